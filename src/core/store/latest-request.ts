import type { Seq } from '../point.ts';
import type { StoredEvent } from './stored-event.ts';

/** How to read the key index. */
export interface LatestRequest {
  /** Keys at most, up to `pageEventsMax`. */
  readonly limit: number;
  /** Continues after this key. */
  readonly after?: string;
  /** How much of each event comes back. */
  readonly select: 'header' | 'full';
}

/** Some keys, each with the last event of the view that is indexed under it. */
export interface LatestPage {
  readonly entries: readonly { readonly key: string; readonly event: StoredEvent }[];
  /** The key to continue after, while there may be more. */
  readonly next?: string;
  /** For a view given by its point: the head of the branch. Absent, with no entries, if there is no such point. */
  readonly head?: Seq;
}
