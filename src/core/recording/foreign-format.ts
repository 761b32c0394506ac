import type { Event, EventDraft } from '../event/event.ts';
import type { JsonObject } from '../json.ts';

/** A saved run of another system, as events. */
export interface ForeignHistory {
  /** What the session is called if nobody says otherwise; undefined if the file has no name for itself. */
  readonly session: string | undefined;
  readonly metadata: JsonObject;
  readonly events: readonly EventDraft[];
}

/**
 * A format of saved runs. Reading keeps the foreign text of every event verbatim beside what it means, so that writing an
 * untouched history gives back the same bytes.
 */
export interface ForeignFormat {
  readonly name: string;
  /** Whether text looks like it, judged by its beginning. */
  detect(text: string): boolean;
  /** Reads a file; throws `import.invalid` that says where. */
  read(text: string): ForeignHistory;
  /** Writes a view in the format. What it has no word for is left out. */
  write(events: readonly Event[], metadata: JsonObject): string;
  /** The events of a file as the format itself tells them apart, in order: for comparing two as it would. */
  outline(text: string): readonly { readonly type: string; readonly text: string }[];
}
