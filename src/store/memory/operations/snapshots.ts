import type { Seq } from '../../../core/point.ts';
import type { Snapshot, SnapshotKey } from '../../../core/store/event-store.ts';
import type { HeldSession } from '../shelf.ts';

/** Snapshots of one projection that a question is answered with. */
const answerMax = 64;

function placeOf(branch: string, { projection, version, upcasts, erasures }: SnapshotKey, seq: Seq): string {
  return JSON.stringify([branch, projection, version, upcasts, erasures, seq]);
}

/** Keeps a snapshot; one of the same place is replaced, and one from before the last erasure is left out. */
export function putSnapshot(session: HeldSession, snapshot: Snapshot): void {
  if (snapshot.erasures !== session.erasures) return;
  session.snapshots.set(placeOf(snapshot.branch, snapshot, snapshot.seq), { ...snapshot });
}

/** Where snapshots are on a branch at or before a seq, nearest first. */
export function findSnapshots(
  session: HeldSession,
  branch: string,
  key: SnapshotKey,
  through: Seq,
): Omit<Snapshot, 'value'>[] {
  return [...session.snapshots.values()]
    .filter((held) => held.seq <= through && placeOf(held.branch, held, held.seq) === placeOf(branch, key, held.seq))
    .sort((a, b) => b.seq - a.seq)
    .slice(0, answerMax)
    .map(({ value: _value, ...rest }) => rest);
}

/** One snapshot. */
export function findSnapshot(session: HeldSession, branch: string, key: SnapshotKey, seq: Seq): Snapshot | undefined {
  return session.snapshots.get(placeOf(branch, key, seq));
}
