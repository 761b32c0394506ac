import type { Event, EventDraft } from '../event/event.ts';
import type { JsonObject } from '../json.ts';

/** A saved run of a different system, as events. */
export interface ForeignHistory {
  /** The default id of the session; undefined if the file has none. */
  readonly session: string | undefined;
  readonly metadata: JsonObject;
  readonly events: readonly EventDraft[];
}

/**
 * A format of saved runs. Reading keeps the text of every foreign event, so that writing an unchanged history returns
 * the same bytes.
 */
export interface ForeignFormat {
  readonly name: string;
  /** Tells from the beginning of a text whether it has this format. */
  detect(text: string): boolean;
  /** Reads a file; throws `import.invalid` with the place of the problem. */
  read(text: string): ForeignHistory;
  /** Writes a view in the format; leaves out what the format cannot express. */
  write(events: readonly Event[], metadata: JsonObject): string;
  /** Returns the events of a file in order, with the type and text by which the format compares them. */
  outline(text: string): readonly { readonly type: string; readonly text: string }[];
}
