import type { PartInput } from '../parts/parts.ts';
import type { Digest, Point, Seq } from '../point.ts';
import type { SessionRef } from './session-ref.ts';
import type { StoredEvent } from './stored-event.ts';

/** An event from a different store, with everything that proves it and the keys it is indexed under. */
export interface RestoredEvent extends Required<Omit<StoredEvent, 'branch'>> {
  readonly keys: readonly string[];
}

/** Events of one branch from a different store, in order. */
export interface RestoreRequest extends SessionRef {
  readonly branch: string;
  /** Where the branch was forked; left out for the session's first branch. The first batch creates the branch. */
  readonly parent?: Point;
  readonly events: readonly RestoredEvent[];
  /** Parts that the session holds from then on. */
  readonly parts: readonly PartInput[];
}

/** Where the branch ends after a restore. */
export interface RestoreOutcome {
  readonly head: Seq;
  readonly digest: Digest;
}
