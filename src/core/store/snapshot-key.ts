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

/** How to page through the snapshots of a branch. */
export interface HeldSnapshotsRequest {
  /** Snapshots at most, up to `pageEventsMax`. */
  readonly limit: number;
  /** Continues after this one. */
  readonly after?: SnapshotKey & Pick<Snapshot, 'seq'>;
}

/** Snapshots that a store names at most in one answer. */
export const snapshotsNamedMax = 64;

/** Returns only the key of a snapshot. */
export function snapshotKeyOf({ projection, version, upcasts, erasures }: SnapshotKey): SnapshotKey {
  return { projection, version, upcasts, erasures };
}
