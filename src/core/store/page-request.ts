import type { EventFilter } from '../event/filter.ts';
import type { PartInput } from '../parts/parts.ts';
import type { Digest, Seq } from '../point.ts';
import type { StoredEvent } from './stored-event.ts';

/** Where a page ended: an index into the segments and the last seq looked at there. */
export interface Cursor {
  readonly segment: number;
  readonly seq: Seq;
}

/** How much a read returns of each event: `header` leaves `data` out, `full` has it, `proof` adds what verification needs. */
export type EventSelect = 'header' | 'full' | 'proof';

/** How to read a page of events. */
export interface PageRequest {
  /** Events at most, up to `pageEventsMax`. */
  readonly limit: number;
  /** Payload bytes at most, up to `pageBytesMax`; a larger event still gets its own page. */
  readonly bytesMax?: number;
  readonly select: EventSelect;
  readonly direction: 'forward' | 'backward';
  /** Continues after an earlier page of the same view and direction. */
  readonly cursor?: Cursor;
  /**
   * Header conditions. Carried segments pass unfiltered, since the event is inside the marker. A forward read goes
   * straight to the first event at or after `since` or `turnAfter`, however many events come before it.
   */
  readonly filter?: EventFilter;
  /**
   * Asks for the parts that the events refer to along with them. A store may ignore it: then the reader asks for them. A
   * store behind a network saves a round trip with it.
   */
  readonly withParts?: boolean;
}

/** Some events of a view. `next` is set while the view may have more, even when `events` is short or empty. */
export interface Page {
  readonly events: readonly StoredEvent[];
  readonly next?: Cursor;
  /** Every part that the events refer to, however deep; absent if they were not asked for, are missing, or are many. */
  readonly parts?: ReadonlyMap<Digest, PartInput>;
}

/** How deep a read of parts goes. */
export interface PartsRequest {
  /** `asked`: only the parts asked for. `all` (the default): every part they refer to, too, however deep. */
  readonly depth?: 'asked' | 'all';
}

/** Some parts, up to `partsPageMax` of them and `pageBytesMax` bytes; a larger part still gets its own page. */
export interface PartsPage {
  readonly parts: ReadonlyMap<Digest, PartInput>;
  /** The digests to ask for next; empty when the answer is complete. */
  readonly rest: readonly Digest[];
}

/** How to page through the digests of the parts of a session. */
export interface HeldPartsRequest {
  /** Digests at most, up to `partsAskedMax`. */
  readonly limit: number;
  /** Continues after this one. */
  readonly after?: Digest;
}
