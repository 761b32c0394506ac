import { limits } from '../../../core/limits.ts';
import { fittingParts, type PartInput } from '../../../core/parts/parts.ts';
import type { Digest } from '../../../core/point.ts';
import type { PartsPage, PartsRequest } from '../../../core/store/event-store.ts';
import { arrayLiteral, digestsIn } from '../array-literal.ts';
import type { SessionKey } from '../catalogue.ts';
import type { Queries } from '../connection.ts';

type PartRow = readonly [
  digest: Digest,
  kind: PartInput['kind'],
  salt: string | null,
  text: string,
  refs: string | null,
  damaged: boolean,
];

function partOf([digest, kind, salt, text, refs, damaged]: PartRow): PartInput {
  const part = { digest, kind, salt, text, refs: digestsIn<Digest>(refs) };
  return damaged ? { ...part, damaged: true } : part;
}

// LATERAL with a limit is one look into the index for each part: left to itself, PostgreSQL goes through the whole session.
const holderSql = (digest: string): string =>
  `CROSS JOIN LATERAL (SELECT part_id FROM part_holders WHERE namespace_id = $1 AND session_id = $2 AND digest = decode(${digest}, 'hex') LIMIT 1) h
CROSS JOIN LATERAL (SELECT * FROM parts WHERE namespace_id = $1 AND id = h.part_id LIMIT 1) p`;

const askedSql = `FROM unnest($3::text[]) asked (digest)
${holderSql('asked.digest')}`;

/** The parts of these digests that the session holds. */
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
  return new Map(rows.map((row) => [row[0], partOf(row)]));
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

/** A page of the parts of these digests that the session holds, and unless told otherwise of all they refer to. */
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
  const limit = limits.partsPageMax;
  const walked = await queries.all<[Digest, number | null]>(
    reachedSql,
    session.namespaceId,
    session.id,
    arrayLiteral(asked),
    limit,
  );
  const page = await fitting(
    queries,
    session,
    walked.filter((row): row is [Digest, number] => row[1] !== null),
  );
  // Only where the walk was cut short can there be something that it did not reach.
  if (walked.length < limit) return page;
  const seen = new Set(walked.map(([digest]) => digest));
  const beyond = [...page.parts.values()].flatMap((part) => part.refs.filter((digest) => !seen.has(digest)));
  return { parts: page.parts, rest: [...page.rest, ...new Set(beyond)] };
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

/** Which of these parts the session holds, and whether whole. */
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

/** The digests of the parts a session holds, rising. */
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

/** Takes bytes off what a branch stores. */
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

/** Makes a session forget parts; those that no session holds any more are deleted. */
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
 * Deletes those of some parts that nobody holds. They are locked first: an append that is about to share one has locked
 * it too, so that the second statement sees its holder; one that comes later finds the part gone and brings its own.
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
