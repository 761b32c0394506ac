import { limits } from '../../../core/limits.ts';
import type { Seq } from '../../../core/point.ts';
import type { HeldSnapshotsRequest, Snapshot, SnapshotKey } from '../../../core/store/event-store.ts';
import { snapshotsNamedMax } from '../../../core/store/snapshot-key.ts';
import { compareUtf8 } from '../../../core/utf8.ts';
import type { HeldSession } from '../shelf.ts';

function nameOf(branch: string, { projection, version, upcasts, erasures }: SnapshotKey, seq: Seq): string {
  return JSON.stringify([branch, projection, version, upcasts, erasures, seq]);
}

/** Keeps a snapshot in place of an older one of the same point; skips one from before the last erasure. */
export function putSnapshot(session: HeldSession, snapshot: Snapshot): void {
  if (snapshot.erasures !== session.erasures) return;
  session.snapshots.set(nameOf(snapshot.branch, snapshot, snapshot.seq), { ...snapshot });
}

/** Returns where snapshots are on a branch at or before a seq, nearest first. */
export function findSnapshots(
  session: HeldSession,
  branch: string,
  key: SnapshotKey,
  through: Seq,
): Omit<Snapshot, 'value'>[] {
  return [...session.snapshots.values()]
    .filter((held) => held.seq <= through && nameOf(held.branch, held, held.seq) === nameOf(branch, key, held.seq))
    .sort((a, b) => b.seq - a.seq)
    .slice(0, snapshotsNamedMax)
    .map(({ value: _value, ...rest }) => rest);
}

/** Returns where the snapshots of a branch are, by key and seq, after one of them. */
export function heldSnapshots(
  session: HeldSession,
  branch: string,
  { limit, after }: HeldSnapshotsRequest,
): Omit<Snapshot, 'value'>[] {
  return [...session.snapshots.values()]
    .filter((held) => held.branch === branch && (after === undefined || order(held, after) > 0))
    .sort(order)
    .slice(0, Math.min(limit, limits.pageEventsMax))
    .map(({ value: _value, ...rest }) => rest);
}

function order(a: SnapshotKey & Pick<Snapshot, 'seq'>, b: typeof a): number {
  return (
    compareUtf8(a.projection, b.projection) ||
    compareUtf8(a.version, b.version) ||
    a.upcasts - b.upcasts ||
    a.erasures - b.erasures ||
    a.seq - b.seq
  );
}

/** Returns one snapshot. */
export function findSnapshot(session: HeldSession, branch: string, key: SnapshotKey, seq: Seq): Snapshot | undefined {
  return session.snapshots.get(nameOf(branch, key, seq));
}
