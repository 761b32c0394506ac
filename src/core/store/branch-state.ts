import { beginning, type Digest, type Seq } from '../point.ts';
import { beginsEpoch, type Marker } from '../view/marker.ts';
import type { History } from '../view/view.ts';

/** The state of a branch when a store judges an append. For a fork: the state the new branch starts with. */
export interface BranchState {
  readonly branch: string;
  readonly history: History;
  /** The digest at the head. */
  readonly digest: Digest;
  readonly epoch: Seq;
  /** The turn of the last event in the view, 0 if the view is empty. */
  readonly turn: number;
}

/** Returns the seq of the last rewind of a whole view among the markers of a branch; 0 if there was none. */
export function epochOf(markers: readonly Marker[]): Seq {
  return markers.findLast(beginsEpoch)?.seq ?? beginning;
}

/** The type of the structural event that starts a new epoch, unless it takes out only some types. */
export const rewindType = 'branch.rewound';
