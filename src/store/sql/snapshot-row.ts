import type { Digest, Seq } from '../../core/point.ts';
import type { BranchRef, Snapshot, SnapshotKey } from '../../core/store/event-store.ts';
import { snapshotKeyOf } from '../../core/store/snapshot-key.ts';

/** Where a snapshot is, as its columns. */
export type SnapshotPlaceRow = readonly [seq: Seq, digest: Digest];

/** A snapshot as its columns. */
export type SnapshotRow = readonly [seq: Seq, digest: Digest, value: string];

/** A snapshot without its value, as its columns. */
export type HeldSnapshotRow = readonly [
  projection: string,
  version: string,
  upcasts: number,
  erasures: number,
  seq: Seq,
  digest: Digest,
];

/** Returns the snapshot of a row, without its value. */
export function heldSnapshotOf(
  { branch }: Pick<BranchRef, 'branch'>,
  [projection, version, upcasts, erasures, seq, digest]: HeldSnapshotRow,
): Omit<Snapshot, 'value'> {
  return { projection, version, upcasts, erasures, branch, seq, digest };
}

/** Returns the values of the columns that a snapshot key names: projection, version, upcasts, erasures. */
export function snapshotKeyValues(key: SnapshotKey): [string, string, number, number] {
  return [key.projection, key.version, key.upcasts, key.erasures];
}

/** Returns where a snapshot is, without its value. */
export function snapshotPlaceOf(
  { branch }: Pick<BranchRef, 'branch'>,
  key: SnapshotKey,
  [seq, digest]: SnapshotPlaceRow,
): Omit<Snapshot, 'value'> {
  return { ...snapshotKeyOf(key), branch, seq, digest };
}

/** Returns the snapshot of a row. */
export function snapshotOf(
  { branch }: Pick<BranchRef, 'branch'>,
  key: SnapshotKey,
  [seq, digest, value]: SnapshotRow,
): Snapshot {
  return { ...snapshotKeyOf(key), branch, seq, digest, value };
}
