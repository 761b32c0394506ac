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
  /** Parts that the session has from then on. */
  readonly parts: readonly PartInput[];
}

/**
 * A restore whose events may leave out their digests, all but the last one: a digest covers all before it, so the last
 * proves the others. An exported page has no more, because digests are what packs least.
 */
export interface ChainedRestore extends Omit<RestoreRequest, 'events'> {
  readonly events: readonly ChainedEvent[];
}

/** A restored event that may leave out its digest. */
export interface ChainedEvent extends Omit<RestoredEvent, 'digest'> {
  readonly digest: Digest | undefined;
}

/** A store that takes even restores whose events leave out their digests. */
export interface ChainRestorer {
  /** Judges the events by the digest of the last one, and keeps them with the digests that lead to it. */
  restore(request: ChainedRestore): Promise<RestoreOutcome>;
}

/** Where the branch ends after a restore. */
export interface RestoreOutcome {
  readonly head: Seq;
  readonly digest: Digest;
}
