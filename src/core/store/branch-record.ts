import type { Digest, Point, Seq } from '../point.ts';
import type { Marker } from '../view/marker.ts';

/** Where a branch ends, without its markers: enough to tell whether it exists and whether it moved. */
export interface BranchHead {
  readonly branch: string;
  /** Where it was forked; absent for the session's first branch. */
  readonly parent?: Point;
  readonly head: Seq;
  /** The digest at the head; the session's genesis when there are no events. */
  readonly digest: Digest;
  /** The seq of its last rewind of the whole view, 0 if there was none: recorders of an older epoch must not write. */
  readonly epoch: Seq;
}

/** Everything about a branch that reading it needs. */
export interface BranchRecord extends BranchHead {
  readonly root: string;
  /** The turn of the last event in the view at the head, 0 if the view is empty. */
  readonly turn: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Every structural event that leads to the head, rising, ancestors' included up to the fork points. */
  readonly markers: readonly Marker[];
}

/** A branch in a listing. */
export interface BranchSummary {
  readonly branch: string;
  readonly parent?: Point;
  readonly head: Seq;
  readonly digest: Digest;
  readonly createdAt: string;
  readonly updatedAt: string;
  /**
   * Bytes of payload that the branch itself stores, in UTF-8: the skeletons of its events, and the text of the parts
   * that its appends were the first to bring to the session. Erased content no longer counts, and a part that an
   * erasure rewrites counts with its new text. Other sessions of the namespace with the same parts do not matter.
   */
  readonly bytes: number;
}
