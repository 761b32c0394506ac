import type { Seq } from '../point.ts';
import type { StoredEvent } from './event-store.ts';

/** How to read the key index. */
export interface LatestRequest {
  /** Keys at most, up to `pageEventsMax`. */
  readonly limit: number;
  /** Continues after this key. */
  readonly after?: string;
  /** How events come back. */
  readonly select: 'header' | 'full';
}

/** One key and the last event of the view that is indexed under it. */
export interface LatestPage {
  readonly entries: readonly { readonly key: string; readonly event: StoredEvent }[];
  /** The key to continue after, while there may be more. */
  readonly next?: string;
  /** Where a point was asked for: the head of its branch. Absent if there is no such point, and no entries then. */
  readonly head?: Seq;
}
