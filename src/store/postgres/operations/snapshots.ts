import { limits } from '../../../core/limits.ts';
import type { Digest, Seq } from '../../../core/point.ts';
import type { Snapshot, SnapshotKey } from '../../../core/store/event-store.ts';
import type { SessionKey } from '../catalogue.ts';
import type { Bound, Queries } from '../connection.ts';

/** Snapshots of one projection that a question is answered with. */
const answerMax = 64;

/**
 * Keeps a snapshot, inside the caller's transaction; one of the same place is replaced, and one from before the last
 * erasure is left out.
 */
export async function putSnapshot(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  snapshot: Snapshot,
): Promise<void> {
  await queries.run(`SELECT set_config('lock_timeout', '${limits.snapshotWaitMsMax}ms', true)`);
  // The session is held meanwhile: an erasure or deletion that comes now waits, and then deletes this one too.
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

/** What {@link where} is given. */
function valuesOf(session: SessionKey, branchId: number, key: SnapshotKey): readonly Bound[] {
  const { projection, version, upcasts, erasures } = key;
  return [session.namespaceId, session.id, branchId, projection, version, upcasts, erasures];
}

/** Where snapshots are at or before a seq, nearest first. */
export async function findSnapshots(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  key: SnapshotKey,
  through: Seq,
): Promise<readonly { readonly seq: Seq; readonly digest: Digest }[]> {
  const rows = await queries.all<[Seq, Digest]>(
    `SELECT seq, digest FROM snapshots ${where} AND seq <= $8 ORDER BY seq DESC LIMIT ${answerMax}`,
    ...valuesOf(session, branchId, key),
    through,
  );
  return rows.map(([seq, digest]) => ({ seq, digest }));
}

/** The digest and value of one snapshot. */
export async function findSnapshot(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  key: SnapshotKey,
  seq: Seq,
): Promise<{ readonly digest: Digest; readonly value: string } | undefined> {
  const row = await queries.get<[Digest, string]>(
    `SELECT digest, value FROM snapshots ${where} AND seq = $8`,
    ...valuesOf(session, branchId, key),
    seq,
  );
  return row === undefined ? undefined : { digest: row[0], value: row[1] };
}

/** Deletes every snapshot of a session. */
export async function dropSnapshots(queries: Queries, session: SessionKey): Promise<void> {
  await queries.run(
    'DELETE FROM snapshots WHERE namespace_id = $1 AND session_id = $2',
    session.namespaceId,
    session.id,
  );
}
