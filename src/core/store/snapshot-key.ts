import type { Digest, Seq } from '../point.ts';

/** Names the projection, and everything else that decides whether a snapshot of it is usable. */
export interface SnapshotKey {
  /** The name that its snapshots are kept under: its own for a shipped projection, with `own:` before it for any other. */
  readonly projection: string;
  readonly version: string;
  readonly upcasts: number;
  readonly erasures: number;
}

/** A stored projection value: derived, never the truth. */
export interface Snapshot extends SnapshotKey {
  readonly branch: string;
  readonly seq: Seq;
  /** The digest of the point; readers ignore a snapshot whose digest differs from the point's. */
  readonly digest: Digest;
  readonly value: string;
}

/** Which snapshots to look up: those that a fold of the history of a point may continue from. */
export interface SnapshotsRequest {
  readonly keys: readonly SnapshotKey[];
  /** The branches that lead to the point, each with the last seq that leads to it; the branch of the point first. */
  readonly within: readonly { readonly branch: string; readonly through: Seq }[];
}

/** A snapshot that was looked up, with its value if it is the nearest of its key. */
export interface FoundSnapshot extends Omit<Snapshot, 'value'> {
  readonly value?: string;
}

/** How to page through the snapshots of a branch. */
export interface HeldSnapshotsRequest {
  /** Snapshots at most, up to `pageEventsMax`. */
  readonly limit: number;
  /** Continues after this one. */
  readonly after?: SnapshotKey & Pick<Snapshot, 'seq'>;
}

/** Snapshots of one key and one branch that a store names at most in one answer. */
export const snapshotsNamedMax = 64;

/** Characters of all values in one answer; the first value may be longer. */
export const snapshotValuesMax = 4_194_304;

/** Leaves out the values that do not fit into one answer: a reader asks for such a snapshot by itself. */
export function withinAnswer(found: readonly FoundSnapshot[]): FoundSnapshot[] {
  let length = 0;
  return found.map(({ value, ...place }) => {
    const isFirst = length === 0;
    length += value?.length ?? 0;
    return value === undefined || (length > snapshotValuesMax && !isFirst) ? place : { ...place, value };
  });
}

/** Returns only the key of a snapshot. */
export function snapshotKeyOf({ projection, version, upcasts, erasures }: SnapshotKey): SnapshotKey {
  return { projection, version, upcasts, erasures };
}
