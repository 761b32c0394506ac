import { partDamaged } from '../../../core/append-judgement.ts';
import { bodyText, storedJson } from '../../../core/decode.ts';
import { dataDigestOf, type Sha256 } from '../../../core/digest.ts';
import { limits } from '../../../core/limits.ts';
import type { PartInput } from '../../../core/parts.ts';
import type { Digest } from '../../../core/point.ts';
import type { PartsPage, PartsRequest } from '../../../core/ports.ts';
import type { BranchRow, SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';

type PartRow = readonly [
  digest: Digest,
  kind: PartInput['kind'],
  salt: string | null,
  text: string,
  refs: string | null,
  damaged: number,
];

const columns = 'lower(hex(p.digest)), p.kind, p.salt, p.text, p.refs, p.damaged';

function partOf([digest, kind, salt, text, refs, damaged]: PartRow): PartInput {
  const part = { digest, kind, salt, text, refs: refs === null ? [] : (storedJson(refs) as Digest[]) };
  return damaged === 1 ? { ...part, damaged: true } : part;
}

// CROSS JOIN keeps the order: left to itself, SQLite goes through every part of the session for each one asked for.
const askedSql = `FROM json_each(?) asked
CROSS JOIN part_holders h ON h.session_id = ? AND h.digest = unhex(asked.value) CROSS JOIN parts p ON p.id = h.part_id`;
const partsSql = `SELECT ${columns} ${askedSql}`;

/** The parts of these digests that the session holds. */
export function findParts(
  database: Database,
  session: SessionRow,
  digests: readonly Digest[],
): ReadonlyMap<Digest, PartInput> {
  const rows = database.all<PartRow>(partsSql, JSON.stringify(digests), session.id);
  return new Map(rows.map((row) => [row[0], partOf(row)]));
}

const askedSizesSql = `SELECT lower(hex(h.digest)), octet_length(p.text) ${askedSql}`;
const askedTotalSql = `SELECT total(octet_length(p.text)), max(p.refs IS NOT NULL) ${askedSql}`;

const reachedSizesSql = `
WITH RECURSIVE reached(digest) AS (
  SELECT unhex(value) FROM json_each(:asked)
  UNION
  SELECT unhex(ref.value) FROM reached
  CROSS JOIN part_holders h ON h.session_id = :session AND h.digest = reached.digest
  CROSS JOIN parts p ON p.id = h.part_id CROSS JOIN json_each(p.refs) ref
  LIMIT :limit
)
SELECT lower(hex(reached.digest)), octet_length(p.text) FROM reached
LEFT JOIN part_holders h ON h.session_id = :session AND h.digest = reached.digest LEFT JOIN parts p ON p.id = h.part_id`;

/** A page of the parts of these digests that the session holds, and unless told otherwise of all they refer to. */
export function partsPage(
  database: Database,
  session: SessionRow,
  digests: readonly Digest[],
  { depth = 'all' }: PartsRequest,
): PartsPage {
  const asked = JSON.stringify([...new Set(digests)]);
  const [bytes, hasRefs] = database.get<[number, number | null]>(askedTotalSql, asked, session.id) as [number, number];
  // Most parts refer to nothing, and most pages are small: then there is nothing to walk and nothing to choose.
  if (depth === 'asked' || hasRefs !== 1) {
    if (bytes <= limits.pageBytesMax) return { parts: findParts(database, session, digests), rest: [] };
    return fitting(database, session, database.all<[Digest, number]>(askedSizesSql, asked, session.id));
  }
  const limit = limits.partsPageMax;
  const walked = database.all<[Digest, number | null]>(reachedSizesSql, { asked, session: session.id, limit });
  const page = fitting(
    database,
    session,
    walked.filter((row): row is [Digest, number] => row[1] !== null),
  );
  // Only where the walk was cut short can there be something that it did not reach.
  if (walked.length < limit) return page;
  const seen = new Set(walked.map(([digest]) => digest));
  const beyond = [...page.parts.values()].flatMap((part) => part.refs.filter((digest) => !seen.has(digest)));
  return { parts: page.parts, rest: [...page.rest, ...new Set(beyond)] };
}

function fitting(
  database: Database,
  session: SessionRow,
  sizes: readonly (readonly [digest: Digest, bytes: number])[],
): PartsPage {
  const count = fittingParts(sizes.map(([, bytes]) => bytes));
  const digests = sizes.map(([digest]) => digest);
  return { parts: findParts(database, session, digests.slice(0, count)), rest: digests.slice(count) };
}

/** How many of these sizes fit into one answer; the first always does. */
function fittingParts(sizes: readonly number[]): number {
  let bytes = 0;
  const end = sizes.findIndex((size, index) => {
    bytes += size;
    return index > 0 && bytes > limits.pageBytesMax;
  });
  return end === -1 ? sizes.length : end;
}

/** One part the session holds. */
export function heldPart(database: Database, session: SessionRow, digest: Digest): PartInput | undefined {
  return findParts(database, session, [digest]).get(digest);
}

const notHeldSql = `
SELECT asked.value FROM json_each(?) asked
WHERE NOT EXISTS (
  SELECT 1 FROM part_holders h JOIN parts p ON p.id = h.part_id
  WHERE h.session_id = ? AND h.digest = unhex(asked.value) AND p.damaged = 0
)`;

/** Which of these parts the session does not hold whole. */
export function notHeld(database: Database, session: SessionRow, digests: readonly Digest[]): readonly Digest[] {
  return database.all<[Digest]>(notHeldSql, JSON.stringify(digests), session.id).map(([digest]) => digest);
}

const heldSql = `
SELECT lower(hex(digest)) FROM part_holders WHERE session_id = ? AND digest > unhex(?) ORDER BY digest LIMIT ?`;

/** The digests of the parts a session holds, rising. */
export function heldParts(database: Database, session: SessionRow, after: Digest | undefined, limit: number): Digest[] {
  return database.all<[Digest]>(heldSql, session.id, after ?? '', limit).map(([digest]) => digest);
}

/** What an append does with a part the session does not hold yet. */
export type PartPlan =
  | { readonly kind: 'add'; readonly part: PartInput }
  | { readonly kind: 'share'; readonly part: PartInput; readonly id: number }
  /** Another session stored it as a delta; this one brings the whole body, which serves both. */
  | { readonly kind: 'complete'; readonly part: PartInput; readonly id: number };

const holderSql = 'SELECT 1 FROM part_holders WHERE session_id = ? AND digest = unhex(?)';

/** Decides what to do with the parts of an append, and throws `part.damaged` before anything is written. */
export function planParts(
  database: Database,
  session: SessionRow,
  parts: readonly PartInput[],
  sha256: Sha256,
): PartPlan[] {
  const plans = new Map<Digest, PartPlan>();
  for (const part of parts) {
    if (plans.has(part.digest) || database.get(holderSql, session.id, part.digest) !== undefined) continue;
    plans.set(part.digest, planPart(database, session, part, parts, sha256));
  }
  return [...plans.values()];
}

/** A part that another session has is shared only if its content is given: holding a part is how one comes to see it. */
function planPart(
  database: Database,
  session: SessionRow,
  part: PartInput,
  given: readonly PartInput[],
  sha256: Sha256,
): PartPlan {
  // A hole is this session's own; others keep the part as it was.
  if (part.damaged === true) return { kind: 'add', part };
  const row = database.get<[number, string, string, string | null]>(
    'SELECT id, kind, text, salt FROM parts WHERE namespace_id = ? AND digest = unhex(?) AND damaged = 0',
    session.namespaceId,
    part.digest,
  );
  if (row === undefined) return { kind: 'add', part };
  const [id, kind, text, salt] = row;
  if (part.kind !== 'delta') return { kind: kind === 'delta' ? 'complete' : 'share', part, id };
  if (text === part.text && salt === part.salt) return { kind: 'share', part, id };
  const body = bodyText(
    part,
    (digest) => given.find((held) => held.digest === digest) ?? heldPart(database, session, digest),
  );
  if (body === undefined || dataDigestOf(sha256, part.salt ?? '', body) !== part.digest) throw partDamaged(part.digest);
  return { kind: 'share', part, id };
}

/** The bytes of the parts that an append brings to the session. */
export function bytesOfParts(plans: readonly PartPlan[]): number {
  let bytes = 0;
  for (const { part } of plans) bytes += Buffer.byteLength(part.text);
  return bytes;
}

/** Carries out what was decided, and makes the session hold every part. */
export function holdParts(
  database: Database,
  session: SessionRow,
  branch: BranchRow,
  plans: readonly PartPlan[],
): void {
  for (const plan of plans) {
    const id = plan.kind === 'add' ? addPart(database, session, plan.part) : plan.id;
    if (plan.kind === 'complete') {
      database.run('UPDATE parts SET kind = ?, text = ?, refs = NULL WHERE id = ?', plan.part.kind, plan.part.text, id);
    }
    database.run(
      'INSERT INTO part_holders (session_id, digest, part_id, branch_id, bytes) VALUES (?, unhex(?), ?, ?, ?)',
      session.id,
      plan.part.digest,
      id,
      branch.id,
      Buffer.byteLength(plan.part.text),
    );
  }
}

function addPart(database: Database, session: SessionRow, part: PartInput): number {
  return database.insert(
    'INSERT INTO parts (namespace_id, digest, kind, salt, damaged, refs, text) VALUES (?, unhex(?), ?, ?, ?, ?, ?)',
    session.namespaceId,
    part.digest,
    part.kind,
    part.salt,
    part.damaged === true ? 1 : 0,
    part.refs.length === 0 ? null : JSON.stringify(part.refs),
    part.text,
  );
}

/** Takes bytes off what a branch stores. */
export const erasedBytesSql = 'UPDATE branches SET erased_bytes = erased_bytes + ? WHERE id = ?';

/** Makes a session forget parts; those that no session holds any more are deleted. */
export function forgetParts(database: Database, session: { readonly id: number }, digests: readonly Digest[]): void {
  for (const digest of digests) {
    const row = database.get<[number, number, number]>(
      'SELECT part_id, branch_id, bytes FROM part_holders WHERE session_id = ? AND digest = unhex(?)',
      session.id,
      digest,
    );
    if (row === undefined) continue;
    const [id, branchId, bytes] = row;
    database.run(erasedBytesSql, bytes, branchId);
    database.run('DELETE FROM part_holders WHERE session_id = ? AND digest = unhex(?)', session.id, digest);
    database.run(
      'DELETE FROM parts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM part_holders WHERE part_id = ?)',
      id,
      id,
    );
  }
}
