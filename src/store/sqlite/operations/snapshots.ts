import type { Digest, Seq } from '../../../core/point.ts';
import type { Snapshot, SnapshotKey } from '../../../core/store/event-store.ts';
import type { Database } from '../database.ts';

/** Snapshots of one projection that a question is answered with. */
const answerMax = 64;

/** Keeps a snapshot; one of the same place is replaced, and one from before the last erasure is left out. */
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

/** Where snapshots are at or before a seq, nearest first. */
export function findSnapshots(
  database: Database,
  branchId: number,
  key: SnapshotKey,
  through: Seq,
): readonly { readonly seq: Seq; readonly digest: Digest }[] {
  const rows = database.all<[Seq, Digest]>(
    `SELECT seq, digest FROM snapshots ${where} AND seq <= ? ORDER BY seq DESC LIMIT ${answerMax}`,
    branchId,
    key.projection,
    key.version,
    key.upcasts,
    key.erasures,
    through,
  );
  return rows.map(([seq, digest]) => ({ seq, digest }));
}

/** The digest and value of one snapshot. */
export function findSnapshot(
  database: Database,
  branchId: number,
  key: SnapshotKey,
  seq: Seq,
): { readonly digest: Digest; readonly value: string } | undefined {
  const row = database.get<[Digest, string]>(
    `SELECT digest, value FROM snapshots ${where} AND seq = ?`,
    branchId,
    key.projection,
    key.version,
    key.upcasts,
    key.erasures,
    seq,
  );
  return row === undefined ? undefined : { digest: row[0], value: row[1] };
}

/** Deletes every snapshot of a session. */
export function dropSnapshots(database: Database, sessionId: number): void {
  database.run('DELETE FROM snapshots WHERE branch_id IN (SELECT id FROM branches WHERE session_id = ?)', sessionId);
}
