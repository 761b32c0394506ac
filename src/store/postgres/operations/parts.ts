import { limits } from '../../../core/limits.ts';
import { fittingParts, type PartInput } from '../../../core/parts/parts.ts';
import type { Digest } from '../../../core/point.ts';
import type { PartsPage, PartsRequest } from '../../../core/store/event-store.ts';
import { heldAmong, partOf, type ReachedPart, withUnreached } from '../../sql/part-row.ts';
import { arrayLiteral, digestsIn } from '../array-literal.ts';
import type { Queries } from '../connection.ts';
import type { SessionKey } from '../session-row.ts';

type PartRow = readonly [
  digest: Digest,
  kind: PartInput['kind'],
  salt: string | null,
  text: string,
  refs: string | null,
  damaged: boolean,
];

function partIn([digest, kind, salt, text, refs, damaged]: PartRow): PartInput {
  return partOf({ digest, kind, salt, text, refs: digestsIn(refs) }, damaged);
}

// LATERAL with a limit makes PostgreSQL look each part up in the index; otherwise it goes through the whole session.
const holderSql = (digest: string): string =>
  `CROSS JOIN LATERAL (SELECT part_id FROM part_holders WHERE namespace_id = $1 AND session_id = $2 AND digest = decode(${digest}, 'hex') LIMIT 1) h
CROSS JOIN LATERAL (SELECT * FROM parts WHERE namespace_id = $1 AND id = h.part_id LIMIT 1) p`;

const askedSql = `FROM unnest($3::text[]) asked (digest)
${holderSql('asked.digest')}`;

/** Returns the parts of these digests that the session has. */
export async function findParts(
  queries: Queries,
  session: SessionKey,
  digests: readonly Digest[],
): Promise<ReadonlyMap<Digest, PartInput>> {
  const rows = await queries.all<PartRow>(
    `SELECT asked.digest, p.kind, p.salt, p.text, p.refs::text, p.damaged ${askedSql}`,
    session.namespaceId,
    session.id,
    arrayLiteral(digests),
  );
  return new Map(rows.map((row) => [row[0], partIn(row)]));
}

const reachedSql = `
WITH RECURSIVE reached (digest) AS (
  SELECT unnest($3::text[])
  UNION
  SELECT unnest(p.refs) FROM reached
  ${holderSql('reached.digest')}
)
SELECT walked.digest, octet_length(p.text) FROM (SELECT digest FROM reached LIMIT $4) walked
LEFT JOIN LATERAL (
  SELECT held.text FROM (SELECT walked.digest) w ${holderSql('walked.digest').replace(/p$/, 'held')} LIMIT 1
) p ON true`;

/** Returns a page of the parts of these digests that the session has and, by default, of all they refer to. */
export async function partsPage(
  queries: Queries,
  session: SessionKey,
  digests: readonly Digest[],
  { depth = 'all' }: PartsRequest,
): Promise<PartsPage> {
  const asked = [...new Set(digests)];
  const found = await queries.all<[Digest, number, boolean]>(
    `SELECT asked.digest, octet_length(p.text), p.refs IS NOT NULL ${askedSql}`,
    session.namespaceId,
    session.id,
    arrayLiteral(asked),
  );
  // Most parts refer to nothing: then there is nothing to walk.
  if (depth === 'asked' || !found.some((row) => row[2])) {
    return await fitting(
      queries,
      session,
      found.map(([digest, bytes]) => [digest, bytes]),
    );
  }
  const walked = await queries.all<ReachedPart>(
    reachedSql,
    session.namespaceId,
    session.id,
    arrayLiteral(asked),
    limits.partsPageMax,
  );
  return withUnreached(await fitting(queries, session, heldAmong(walked)), walked);
}

async function fitting(
  queries: Queries,
  session: SessionKey,
  sizes: readonly (readonly [digest: Digest, bytes: number])[],
): Promise<PartsPage> {
  const count = fittingParts(sizes.map(([, bytes]) => bytes));
  const digests = sizes.map(([digest]) => digest);
  if (count === 0) return { parts: new Map(), rest: [] };
  return { parts: await findParts(queries, session, digests.slice(0, count)), rest: digests.slice(count) };
}

/** Returns which of these parts the session has, and whether they are whole. */
export async function findHeld(
  queries: Queries,
  session: SessionKey,
  digests: readonly Digest[],
): Promise<ReadonlyMap<Digest, { readonly isWhole: boolean }>> {
  const rows = await queries.all<[Digest, boolean]>(
    `SELECT asked.digest, NOT p.damaged ${askedSql}`,
    session.namespaceId,
    session.id,
    arrayLiteral(digests),
  );
  return new Map(rows.map(([digest, isWhole]) => [digest, { isWhole }]));
}

/** Returns the digests of the parts of a session, rising. */
export async function heldParts(
  queries: Queries,
  session: SessionKey,
  after: Digest | undefined,
  limit: number,
): Promise<Digest[]> {
  const rows = await queries.all<[Digest]>(
    `SELECT encode(digest, 'hex') FROM part_holders
     WHERE namespace_id = $1 AND session_id = $2 AND digest > decode($3, 'hex') ORDER BY digest LIMIT $4`,
    session.namespaceId,
    session.id,
    after ?? '',
    limit,
  );
  return rows.map(([digest]) => digest);
}

/** Subtracts bytes from the size of a branch. */
export async function countErased(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  bytes: number,
): Promise<void> {
  await queries.run(
    `UPDATE branches SET erased_bytes = erased_bytes + $4 WHERE namespace_id = $1 AND session_id = $2 AND id = $3`,
    session.namespaceId,
    session.id,
    branchId,
    bytes,
  );
}

/** Makes a session let go of parts, and deletes those that no session holds any more. */
export async function forgetParts(queries: Queries, session: SessionKey, digests: readonly Digest[]): Promise<void> {
  if (digests.length === 0) return;
  const gone = await queries.all<[number, number, number]>(
    `DELETE FROM part_holders h USING (SELECT DISTINCT decode(digest, 'hex') AS digest FROM unnest($3::text[]) asked (digest)) asked
     WHERE h.namespace_id = $1 AND h.session_id = $2 AND h.digest = asked.digest RETURNING h.part_id, h.branch_id, h.bytes`,
    session.namespaceId,
    session.id,
    arrayLiteral(digests),
  );
  for (const [, branchId, bytes] of gone) await countErased(queries, session, branchId, bytes);
  await dropUnheld(
    queries,
    session.namespaceId,
    gone.map(([id]) => id),
  );
}

/**
 * Deletes those of some parts that no session holds. Locks them first: an append that is about to share a part has locked
 * it too, so the second statement sees that holder. A later append finds the part gone and brings its own.
 */
export async function dropUnheld(queries: Queries, namespaceId: number, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const asked = arrayLiteral(ids);
  await queries.all(
    'SELECT 1 FROM parts WHERE namespace_id = $1 AND id = ANY($2::bigint[]) ORDER BY id FOR UPDATE',
    namespaceId,
    asked,
  );
  await queries.run(
    `DELETE FROM parts p WHERE p.namespace_id = $1 AND p.id = ANY($2::bigint[])
     AND NOT EXISTS (SELECT 1 FROM part_holders h WHERE h.namespace_id = $1 AND h.part_id = p.id)`,
    namespaceId,
    asked,
  );
}
