import type { Digest, Seq } from '../point.ts';

/** What a snapshot is a snapshot of. */
export interface SnapshotKey {
  readonly projection: string;
  readonly version: string;
  readonly upcasts: number;
  readonly erasures: number;
}

/** A kept projection value: derived, and never the truth. */
export interface Snapshot extends SnapshotKey {
  readonly branch: string;
  readonly seq: Seq;
  /** The digest of the point; a snapshot whose digest is not that of the point is not used. */
  readonly digest: Digest;
  readonly value: string;
}
