import type { PartPlan, StoredPart } from '../../../core/parts/part-plan.ts';
import type { PartInput } from '../../../core/parts/parts.ts';
import type { Digest } from '../../../core/point.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { Queries } from '../connection.ts';
import type { SessionKey } from '../session-row.ts';

/**
 * Returns the parts of these digests that the namespace has, and locks them until the transaction ends. The statement
 * checks twice for a hole, since the erasure that it waits for may make one.
 */
export async function findStored(
  queries: Queries,
  session: SessionKey,
  digests: readonly Digest[],
): Promise<Map<Digest, StoredPart>> {
  const rows = await queries.all<[Digest, number, string, string | null, string | null]>(
    `SELECT encode(p.digest, 'hex'), p.id, p.kind, p.salt, CASE WHEN p.kind = 'delta' THEN p.text END FROM parts p
     WHERE p.namespace_id = $1 AND NOT p.damaged AND p.id = ANY(ARRAY(
       SELECT near.id FROM (SELECT decode(digest, 'hex') AS digest FROM unnest($2::text[]) asked (digest)) asked
       JOIN LATERAL (SELECT id, digest FROM parts WHERE namespace_id = $1 AND NOT damaged AND digest >= asked.digest ORDER BY digest LIMIT 1) near
       ON near.digest = asked.digest))
     ORDER BY p.id FOR KEY SHARE`,
    session.namespaceId,
    arrayLiteral(digests),
  );
  return new Map(rows.map(([digest, id, kind, salt, text]) => [digest, { id, kind, salt, text }]));
}

/** Returns the bytes of the parts that an append brings to the session. */
export function bytesOfParts(plans: readonly PartPlan[]): number {
  let bytes = 0;
  for (const { part } of plans) bytes += Buffer.byteLength(part.text);
  return bytes;
}

/** The parts that one append brings, and the branch it brings them with. */
export interface BroughtParts {
  readonly session: SessionKey;
  readonly branchId: number;
  readonly plans: readonly PartPlan[];
}

/** Stores the parts as planned, and makes the sessions hold every one of them. */
export async function holdParts(queries: Queries, brought: readonly BroughtParts[]): Promise<void> {
  const rows = brought.flatMap(({ session, branchId, plans }) => plans.map((plan) => ({ session, branchId, plan })));
  if (rows.length === 0) return;
  const ids = await addParts(queries, rows);
  const holes = new Map<Digest, number>();
  for (const { session, plan } of rows) {
    if (plan.kind === 'hole') holes.set(plan.part.digest, await addHole(queries, session, plan.part));
    if (plan.kind !== 'complete') continue;
    await queries.run(
      'UPDATE parts SET kind = $3, text = $4, refs = NULL WHERE namespace_id = $1 AND id = $2',
      session.namespaceId,
      plan.id,
      plan.part.kind,
      plan.part.text,
    );
  }
  await queries.run(
    `INSERT INTO part_holders (namespace_id, session_id, digest, part_id, branch_id, bytes)
     SELECT n, s, decode(d, 'hex'), p, b, size
     FROM unnest($1::int[], $2::bigint[], $3::text[], $4::bigint[], $5::int[], $6::bigint[]) h (n, s, d, p, b, size)`,
    arrayLiteral(rows.map(({ session }) => session.namespaceId)),
    arrayLiteral(rows.map(({ session }) => session.id)),
    arrayLiteral(rows.map(({ plan }) => plan.part.digest)),
    arrayLiteral(
      rows.map(({ session, plan }) =>
        'id' in plan
          ? plan.id
          : ((plan.kind === 'hole'
              ? holes.get(plan.part.digest)
              : ids.get(partKey(session.namespaceId, plan.part.digest))) as number),
      ),
    ),
    arrayLiteral(rows.map(({ branchId }) => branchId)),
    arrayLiteral(rows.map(({ plan }) => Buffer.byteLength(plan.part.text))),
  );
}

/** Adds a part with a hole, which only one session has. Returns its row id. */
export async function addHole(queries: Queries, session: SessionKey, part: PartInput): Promise<number> {
  const [id] = (await queries.get<[number]>(
    `INSERT INTO parts (namespace_id, digest, kind, salt, damaged, refs, text)
     VALUES ($1, decode($2, 'hex'), $3, $4, true, $5::text[], $6) RETURNING id`,
    session.namespaceId,
    part.digest,
    part.kind,
    part.salt,
    part.refs.length === 0 ? null : arrayLiteral(part.refs),
    part.text,
  )) as [number];
  return id;
}

const partKey = (namespaceId: number, digest: Digest): string => `${namespaceId}/${digest}`;

/** Adds new parts; takes one that a different writer has just added as it is. Returns their row ids. */
async function addParts(
  queries: Queries,
  rows: readonly { readonly session: SessionKey; readonly plan: PartPlan }[],
): Promise<ReadonlyMap<string, number>> {
  const added = new Map<string, { readonly namespaceId: number; readonly part: PartInput }>();
  for (const { session, plan } of rows) {
    const key = partKey(session.namespaceId, plan.part.digest);
    // A whole body serves every session; a delta only those that have its base.
    if (plan.kind === 'add' && (plan.part.kind !== 'delta' || !added.has(key)))
      added.set(key, { namespaceId: session.namespaceId, part: plan.part });
  }
  if (added.size === 0) return new Map();
  // Sorted, so that two writers that add the same parts cannot wait for each other.
  const parts = [...added].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, held]) => held);
  const found = await queries.all<[number, Digest, number]>(
    `INSERT INTO parts (namespace_id, digest, kind, salt, refs, text)
     SELECT n, decode(digest, 'hex'), kind, salt, refs::text[], text
     FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) p (n, digest, kind, salt, refs, text)
     ON CONFLICT (namespace_id, digest) WHERE NOT damaged DO UPDATE SET kind = parts.kind
     RETURNING namespace_id, encode(digest, 'hex'), id`,
    arrayLiteral(parts.map(({ namespaceId }) => namespaceId)),
    arrayLiteral(parts.map(({ part }) => part.digest)),
    arrayLiteral(parts.map(({ part }) => part.kind)),
    arrayLiteral(parts.map(({ part }) => part.salt)),
    arrayLiteral(parts.map(({ part }) => (part.refs.length === 0 ? null : arrayLiteral(part.refs)))),
    arrayLiteral(parts.map(({ part }) => part.text)),
  );
  return new Map(found.map(([namespaceId, digest, id]) => [partKey(namespaceId, digest), id]));
}
