import { BoundedMap } from '../../core/bounded-map.ts';
import type { Digest, Seq } from '../../core/point.ts';
import { Lanes } from './lanes.ts';

/** A fold of a branch as this process read it last, so that the next question reads only what came since. */
export interface FollowedFold<Value> {
  value: Value;
  /** The last event that it includes. */
  seq: Seq;
  digest: Digest;
  /**
   * The beginning of its session: one that was deleted and created again has a different one. Of a fold that began with
   * the first event of the session, only the digest of that event is known at first.
   */
  origin: { readonly genesis: Digest } | { readonly first: Digest };
  /** The session's count of erasures when it was folded: it may contain text that was erased since. */
  readonly erasures: number;
}

/**
 * The folds of one projection that a process keeps, by namespace, session and branch; one that is forgotten is folded
 * again. Engines that share a store may share them, since each asks the store about the branch before it uses one.
 */
export class FollowedFolds<Value> extends BoundedMap<string, FollowedFold<Value>> {
  /** Engines that continue a fold do it one after the other: side by side they would add the same events twice. */
  readonly lanes: Lanes = new Lanes();
}
