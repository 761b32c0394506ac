import { limits } from '../../../core/limits.ts';
import type { Digest, Seq } from '../../../core/point.ts';
import type {
  FoundSnapshot,
  HeldSnapshotsRequest,
  SessionRef,
  Snapshot,
  SnapshotKey,
  SnapshotsRequest,
} from '../../../core/store/event-store.ts';
import { snapshotsNamedMax, withinAnswer } from '../../../core/store/snapshot-key.ts';
import {
  type HeldSnapshotRow,
  type SnapshotRow,
  snapshotKeyValues,
  snapshotOf,
  snapshotPlaceOf,
} from '../../sql/snapshot-row.ts';
import { arrayLiteral } from '../array-literal.ts';
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

// One statement for all keys and branches, whose values are read only for the nearest of each key.
const findSql = `
SELECT key, branch, seq, digest, CASE WHEN nth = 1 THEN value END FROM (
  SELECT row_number() OVER (PARTITION BY k.key ORDER BY w.near, s.seq DESC) AS nth, k.key, w.near, w.branch, s.seq, s.digest, s.value
  FROM namespaces n
  JOIN sessions owner ON owner.namespace_id = n.id AND owner.name = $2
  JOIN unnest($3::text[], $4::text[], $5::int[], $6::int[]) WITH ORDINALITY AS k (projection, version, upcasts, erasures, key) ON true
  JOIN unnest($7::text[], $8::bigint[]) WITH ORDINALITY AS w (branch, through, near) ON true
  JOIN branches b ON b.namespace_id = n.id AND b.session_id = owner.id AND b.name = w.branch
  JOIN LATERAL (
    SELECT seq, digest, value FROM snapshots
    WHERE namespace_id = n.id AND session_id = owner.id AND branch_id = b.id AND projection = k.projection
      AND version = k.version AND upcasts = k.upcasts AND erasures = k.erasures AND seq <= w.through
    ORDER BY seq DESC LIMIT ${snapshotsNamedMax}
  ) s ON true
  JOIN LATERAL (
    SELECT digest FROM events
    WHERE namespace_id = n.id AND session_id = owner.id AND branch_id = b.id AND seq BETWEEN s.seq AND s.seq
    ORDER BY seq LIMIT 1
  ) e ON e.digest = s.digest
  WHERE n.name = $1
) found ORDER BY key, near, seq DESC`;

type FoundRow = readonly [key: number, branch: string, seq: Seq, digest: Digest, value: string | null];

/** Returns where snapshots are on the branches that lead to a point, by key and nearest first. */
export async function findSnapshots(
  queries: Queries,
  { namespace, session }: SessionRef,
  { keys, within }: SnapshotsRequest,
): Promise<FoundSnapshot[]> {
  if (keys.length === 0 || within.length === 0) return [];
  const rows = await queries.all<FoundRow>(
    findSql,
    namespace,
    session,
    arrayLiteral(keys.map(({ projection }) => projection)),
    arrayLiteral(keys.map(({ version }) => version)),
    arrayLiteral(keys.map(({ upcasts }) => upcasts)),
    arrayLiteral(keys.map(({ erasures }) => erasures)),
    arrayLiteral(within.map(({ branch }) => branch)),
    arrayLiteral(within.map(({ through }) => through)),
  );
  const found = rows.map(([at, branch, seq, digest, value]): FoundSnapshot => {
    const key = keys[at - 1] as SnapshotKey;
    return value === null
      ? snapshotPlaceOf({ branch }, key, [seq, digest])
      : snapshotOf({ branch }, key, [seq, digest, value]);
  });
  return withinAnswer(found);
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
