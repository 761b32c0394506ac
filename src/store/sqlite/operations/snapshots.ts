import { limits } from '../../../core/limits.ts';
import type { Seq } from '../../../core/point.ts';
import type {
  FoundSnapshot,
  HeldSnapshotsRequest,
  Snapshot,
  SnapshotKey,
  SnapshotsRequest,
} from '../../../core/store/event-store.ts';
import { snapshotsNamedMax, withinAnswer } from '../../../core/store/snapshot-key.ts';
import {
  type HeldSnapshotRow,
  type SnapshotPlaceRow,
  type SnapshotRow,
  snapshotKeyValues,
  snapshotOf,
  snapshotPlaceOf,
} from '../../sql/snapshot-row.ts';
import type { Database } from '../database.ts';

/** Keeps a snapshot in place of an older one of the same point; skips one from before the last erasure. */
export function putSnapshot(database: Database, branchId: number, snapshot: Snapshot): void {
  database.run(
    `INSERT OR REPLACE INTO snapshots (branch_id, projection, version, upcasts, erasures, seq, digest, value)
     SELECT b.id, ?, ?, ?, ?, ?, ?, ? FROM branches b JOIN sessions s ON s.id = b.session_id
     WHERE b.id = ? AND s.erasures = ?`,
    snapshot.projection,
    snapshot.version,
    snapshot.upcasts,
    snapshot.erasures,
    snapshot.seq,
    snapshot.digest,
    snapshot.value,
    branchId,
    snapshot.erasures,
  );
}

const where = 'WHERE branch_id = ? AND projection = ? AND version = ? AND upcasts = ? AND erasures = ?';

const findSql = `SELECT seq, digest FROM snapshots s ${where} AND seq <= ?
AND digest = (SELECT digest FROM events e WHERE e.branch_id = s.branch_id AND e.seq = s.seq)
ORDER BY seq DESC LIMIT ${snapshotsNamedMax}`;

/** Returns where snapshots are on the branches that lead to a point, by key and nearest first. */
export function findSnapshots(
  database: Database,
  idOf: (branch: string) => number | undefined,
  { keys, within }: SnapshotsRequest,
): FoundSnapshot[] {
  const branches = within.flatMap(({ branch, through }) => {
    const id = idOf(branch);
    return id === undefined ? [] : [{ id, branch, through }];
  });
  const found = keys.flatMap((key) => {
    const places = branches.flatMap(({ id, branch, through }) =>
      database
        .all<SnapshotPlaceRow>(findSql, id, ...snapshotKeyValues(key), through)
        .map((row) => ({ id, place: snapshotPlaceOf({ branch }, key, row) })),
    );
    return places.map(({ id, place }, index): FoundSnapshot => {
      const row = index === 0 ? findSnapshot(database, id, key, place.seq) : undefined;
      return row === undefined ? place : snapshotOf(place, key, row);
    });
  });
  return withinAnswer(found);
}

/** Returns where the snapshots of a branch are, by key and seq, after one of them. */
export function heldSnapshots(
  database: Database,
  branchId: number,
  { limit, after }: HeldSnapshotsRequest,
): readonly HeldSnapshotRow[] {
  return database.all<HeldSnapshotRow>(
    `SELECT projection, version, upcasts, erasures, seq, digest FROM snapshots
     WHERE branch_id = ? AND (projection, version, upcasts, erasures, seq) > (?, ?, ?, ?, ?)
     ORDER BY projection, version, upcasts, erasures, seq LIMIT ?`,
    branchId,
    ...(after === undefined ? ['', '', 0, 0, 0] : [...snapshotKeyValues(after), after.seq]),
    Math.min(limit, limits.pageEventsMax),
  );
}

/** Returns one snapshot. */
export function findSnapshot(
  database: Database,
  branchId: number,
  key: SnapshotKey,
  seq: Seq,
): SnapshotRow | undefined {
  const sql = `SELECT seq, digest, value FROM snapshots ${where} AND seq = ?`;
  return database.get<SnapshotRow>(sql, branchId, ...snapshotKeyValues(key), seq);
}

/** Deletes every snapshot of a session. */
export function dropSnapshots(database: Database, sessionId: number): void {
  database.run('DELETE FROM snapshots WHERE branch_id IN (SELECT id FROM branches WHERE session_id = ?)', sessionId);
}
