import type { Event, EventDraft } from '../event/event.ts';
import type { JsonObject } from '../json.ts';
import type { Seq } from '../point.ts';

/** A saved run of a different system, as events. */
export interface ForeignHistory {
  /** The default id of the session; undefined if the file has none. */
  readonly session: string | undefined;
  readonly metadata: JsonObject;
  readonly events: readonly EventDraft[];
}

/** An event of a file as its format compares it, and the seq of the event that it is written from. */
export interface OutlinedEvent {
  readonly seq: Seq;
  readonly type: string;
  readonly text: string;
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
  /**
   * Returns the events that a file of a view would have, in order: the type and text by which the format compares them,
   * and the seq of the event that each one is written from.
   */
  outline(events: readonly Event[]): readonly OutlinedEvent[];
}
