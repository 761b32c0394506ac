import type { Seq } from '../../../core/point.ts';
import type { Snapshot, SnapshotKey } from '../../../core/store/event-store.ts';
import { snapshotsNamedMax } from '../../../core/store/snapshot-key.ts';
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

/** Returns one snapshot. */
export function findSnapshot(session: HeldSession, branch: string, key: SnapshotKey, seq: Seq): Snapshot | undefined {
  return session.snapshots.get(nameOf(branch, key, seq));
}
