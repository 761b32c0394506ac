import { limits } from '../../../core/limits.ts';
import type { Seq } from '../../../core/point.ts';
import type { HeldSnapshotsRequest, Snapshot, SnapshotKey } from '../../../core/store/event-store.ts';
import { snapshotsNamedMax } from '../../../core/store/snapshot-key.ts';
import {
  type HeldSnapshotRow,
  type SnapshotPlaceRow,
  type SnapshotRow,
  snapshotKeyValues,
} from '../../sql/snapshot-row.ts';
import type { Bound, Queries } from '../connection.ts';
import type { SessionKey } from '../session-row.ts';

/**
 * Keeps a snapshot in place of an older one of the same point, inside the caller's transaction; skips one from before the
 * last erasure.
 */
export async function putSnapshot(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  snapshot: Snapshot,
): Promise<void> {
  await queries.run(`SELECT set_config('lock_timeout', '${limits.snapshotWaitMsMax}ms', true)`);
  // Locks the session, so that an erasure or deletion waits and then deletes this snapshot too.
  await queries.run(
    `WITH held AS (SELECT 1 FROM sessions WHERE namespace_id = $1 AND id = $2 AND name IS NOT NULL AND erasures = $7 FOR KEY SHARE)
     INSERT INTO snapshots (namespace_id, session_id, branch_id, projection, version, upcasts, erasures, seq, digest, value)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM held
     ON CONFLICT (namespace_id, session_id, branch_id, projection, version, upcasts, erasures, seq)
     DO UPDATE SET digest = excluded.digest, value = excluded.value`,
    session.namespaceId,
    session.id,
    branchId,
    snapshot.projection,
    snapshot.version,
    snapshot.upcasts,
    snapshot.erasures,
    snapshot.seq,
    snapshot.digest,
    snapshot.value,
  );
}

const where =
  'WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND projection = $4 AND version = $5 AND upcasts = $6 AND erasures = $7';

/** Returns the values for {@link where}. */
function valuesOf(session: SessionKey, branchId: number, key: SnapshotKey): readonly Bound[] {
  return [session.namespaceId, session.id, branchId, ...snapshotKeyValues(key)];
}

/** Returns where snapshots are at or before a seq, nearest first. */
export async function findSnapshots(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  key: SnapshotKey,
  through: Seq,
): Promise<readonly SnapshotPlaceRow[]> {
  return await queries.all<SnapshotPlaceRow>(
    `SELECT seq, digest FROM snapshots ${where} AND seq <= $8 ORDER BY seq DESC LIMIT ${snapshotsNamedMax}`,
    ...valuesOf(session, branchId, key),
    through,
  );
}

/** Returns where the snapshots of a branch are, by key and seq, after one of them. */
export async function heldSnapshots(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  { limit, after }: HeldSnapshotsRequest,
): Promise<readonly HeldSnapshotRow[]> {
  return await queries.all<HeldSnapshotRow>(
    `SELECT projection, version, upcasts, erasures, seq, digest FROM snapshots
     WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3
       AND (projection, version, upcasts, erasures, seq) > ($4, $5, $6, $7, $8)
     ORDER BY projection, version, upcasts, erasures, seq LIMIT $9`,
    session.namespaceId,
    session.id,
    branchId,
    ...(after === undefined ? ['', '', 0, 0, 0] : [...snapshotKeyValues(after), after.seq]),
    Math.min(limit, limits.pageEventsMax),
  );
}

/** Returns one snapshot. */
export async function findSnapshot(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  key: SnapshotKey,
  seq: Seq,
): Promise<SnapshotRow | undefined> {
  const sql = `SELECT seq, digest, value FROM snapshots ${where} AND seq = $8`;
  return await queries.get<SnapshotRow>(sql, ...valuesOf(session, branchId, key), seq);
}

/** Deletes every snapshot of a session. */
export async function dropSnapshots(queries: Queries, session: SessionKey): Promise<void> {
  await queries.run(
    'DELETE FROM snapshots WHERE namespace_id = $1 AND session_id = $2',
    session.namespaceId,
    session.id,
  );
}
