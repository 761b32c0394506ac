import { limits } from '../../../core/limits.ts';
import type { Digest, Seq } from '../../../core/point.ts';
import type {
  FoundSnapshot,
  HeldSnapshotsRequest,
  Snapshot,
  SnapshotKey,
  SnapshotsRequest,
} from '../../../core/store/event-store.ts';
import { snapshotsNamedMax, withinAnswer } from '../../../core/store/snapshot-key.ts';
import { compareUtf8 } from '../../../core/utf8.ts';
import { eventAt, type HeldSession } from '../shelf.ts';

function nameOf({ projection, version, upcasts, erasures }: SnapshotKey, seq: Seq): string {
  return JSON.stringify([projection, version, upcasts, erasures, seq]);
}

/** Keeps a snapshot in place of an older one of the same point; skips one from before the last erasure. */
export function putSnapshot(session: HeldSession, snapshot: Snapshot): void {
  if (snapshot.erasures !== session.erasures) return;
  const held = session.snapshots.get(snapshot.branch) ?? new Map<string, Snapshot>();
  session.snapshots.set(snapshot.branch, held.set(nameOf(snapshot, snapshot.seq), { ...snapshot }));
}

/** Returns the snapshots of a branch. */
function snapshotsOf(session: HeldSession, branch: string): Snapshot[] {
  return [...(session.snapshots.get(branch)?.values() ?? [])];
}

/** Returns where snapshots are on the branches that lead to a point, by key and nearest first. */
export function findSnapshots(session: HeldSession, { keys, within }: SnapshotsRequest): FoundSnapshot[] {
  const found = keys.flatMap((key) =>
    within
      .flatMap(({ branch, through }) =>
        snapshotsOf(session, branch)
          .filter((held) => held.seq <= through && nameOf(held, held.seq) === nameOf(key, held.seq))
          .filter((held) => digestAt(session, held) === held.digest)
          .sort((a, b) => b.seq - a.seq)
          .slice(0, snapshotsNamedMax),
      )
      .map(({ value, ...place }, index) => (index === 0 ? { ...place, value } : place)),
  );
  return withinAnswer(found);
}

function digestAt(session: HeldSession, { branch: name, seq }: Snapshot): Digest | undefined {
  const branch = session.branches.get(name);
  return branch === undefined ? undefined : eventAt(branch, seq)?.digest;
}

/** Returns where the snapshots of a branch are, by key and seq, after one of them. */
export function heldSnapshots(
  session: HeldSession,
  branch: string,
  { limit, after }: HeldSnapshotsRequest,
): Omit<Snapshot, 'value'>[] {
  return snapshotsOf(session, branch)
    .filter((held) => after === undefined || order(held, after) > 0)
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
  return session.snapshots.get(branch)?.get(nameOf(key, seq));
}
