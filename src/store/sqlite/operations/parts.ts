import { limits } from '../../../core/limits.ts';
import { storedJson } from '../../../core/parts/decode.ts';
import type { PartLookup, PartPlan } from '../../../core/parts/part-plan.ts';
import { fittingParts, type PartInput } from '../../../core/parts/parts.ts';
import type { Digest } from '../../../core/point.ts';
import type { PartsPage, PartsRequest } from '../../../core/store/event-store.ts';
import { heldAmong, partOf, type ReachedPart, withUnreached } from '../../sql/part-row.ts';
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

function partIn([digest, kind, salt, text, refs, damaged]: PartRow): PartInput {
  return partOf({ digest, kind, salt, text, refs: refs === null ? [] : (storedJson(refs) as Digest[]) }, damaged === 1);
}

// CROSS JOIN keeps the order; otherwise SQLite goes through every part of the session for each one asked for.
const askedSql = `FROM json_each(?) asked
CROSS JOIN part_holders h ON h.session_id = ? AND h.digest = unhex(asked.value) CROSS JOIN parts p ON p.id = h.part_id`;
const partsSql = `SELECT ${columns} ${askedSql}`;

/** Returns the parts of these digests that the session holds. */
function findParts(
  database: Database,
  session: SessionRow,
  digests: readonly Digest[],
): ReadonlyMap<Digest, PartInput> {
  const rows = database.all<PartRow>(partsSql, JSON.stringify(digests), session.id);
  return new Map(rows.map((row) => [row[0], partIn(row)]));
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

/** Returns a page of the parts of these digests that the session holds and, by default, of all they refer to. */
export function partsPage(
  database: Database,
  session: SessionRow,
  digests: readonly Digest[],
  { depth = 'all' }: PartsRequest,
): PartsPage {
  const asked = JSON.stringify([...new Set(digests)]);
  const [bytes, hasRefs] = database.one<[number, number | null]>(askedTotalSql, asked, session.id);
  // Most parts refer to nothing and most pages are small: then there is nothing to walk or to choose.
  if (depth === 'asked' || hasRefs !== 1) {
    if (bytes <= limits.pageBytesMax) return { parts: findParts(database, session, digests), rest: [] };
    return fitting(database, session, database.all<[Digest, number]>(askedSizesSql, asked, session.id));
  }
  const limit = limits.partsPageMax;
  const walked = database.all<ReachedPart>(reachedSizesSql, { asked, session: session.id, limit });
  return withUnreached(fitting(database, session, heldAmong(walked)), walked);
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

/** Returns one part that the session holds. */
export function heldPart(database: Database, session: SessionRow, digest: Digest): PartInput | undefined {
  return findParts(database, session, [digest]).get(digest);
}

const notHeldSql = `
SELECT asked.value FROM json_each(?) asked
WHERE NOT EXISTS (
  SELECT 1 FROM part_holders h JOIN parts p ON p.id = h.part_id
  WHERE h.session_id = ? AND h.digest = unhex(asked.value) AND p.damaged = 0
)`;

/** Returns which of these parts the session does not hold whole. */
export function notHeld(database: Database, session: SessionRow, digests: readonly Digest[]): readonly Digest[] {
  return database.all<[Digest]>(notHeldSql, JSON.stringify(digests), session.id).map(([digest]) => digest);
}

const heldSql = `
SELECT lower(hex(digest)) FROM part_holders WHERE session_id = ? AND digest > unhex(?) ORDER BY digest LIMIT ?`;

/** Returns the digests of the parts a session holds, rising. */
export function heldParts(database: Database, session: SessionRow, after: Digest | undefined, limit: number): Digest[] {
  return database.all<[Digest]>(heldSql, session.id, after ?? '', limit).map(([digest]) => digest);
}

const holderSql = 'SELECT 1 FROM part_holders WHERE session_id = ? AND digest = unhex(?)';
const storedSql = 'SELECT id, kind, salt, text FROM parts WHERE namespace_id = ? AND digest = unhex(?) AND damaged = 0';

/** Returns the lookups that planning the parts of an append needs. */
export function partLookupOf(database: Database, session: SessionRow): PartLookup {
  return {
    isHeld: (digest) => database.get(holderSql, session.id, digest) !== undefined,
    stored: (digest) => {
      const row = database.get<[number, string, string | null, string]>(storedSql, session.namespaceId, digest);
      return row === undefined ? undefined : { id: row[0], kind: row[1], salt: row[2], text: row[3] };
    },
    part: (digest) => heldPart(database, session, digest),
  };
}

/** Returns the bytes of the parts that an append brings to the session. */
export function bytesOfParts(plans: readonly PartPlan[]): number {
  let bytes = 0;
  for (const { part } of plans) bytes += Buffer.byteLength(part.text);
  return bytes;
}

/** Stores the parts as planned, and makes the session hold every one of them. */
export function holdParts(
  database: Database,
  session: SessionRow,
  branch: BranchRow,
  plans: readonly PartPlan[],
): void {
  for (const plan of plans) {
    const id = 'id' in plan ? plan.id : addPart(database, session, plan.part);
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

/** Subtracts bytes from the size of a branch. */
export const erasedBytesSql = 'UPDATE branches SET erased_bytes = erased_bytes + ? WHERE id = ?';

/** Makes a session let go of parts, and deletes those that no session holds any more. */
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
