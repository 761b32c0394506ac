import { limits } from '../../../core/limits.ts';
import { storedJson } from '../../../core/parts/decode.ts';
import type { PartLookup, PartPlan } from '../../../core/parts/part-plan.ts';
import { fittingParts, type PartInput } from '../../../core/parts/parts.ts';
import type { Digest } from '../../../core/point.ts';
import type { PartsPage, PartsRequest } from '../../../core/store/event-store.ts';
import { heldAmong, partOf, type ReachedPart, withUnreached } from '../../sql/part-row.ts';
import type { BranchRow, SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { cellBytes, inPagingOrder } from './row-order.ts';

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

/** Returns the parts of these digests that the session has. */
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

/** Returns a page of the parts of these digests that the session has and, by default, of all they refer to. */
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

/** Returns one part that the session has. */
export function heldPart(database: Database, session: SessionRow, digest: Digest): PartInput | undefined {
  return findParts(database, session, [digest]).get(digest);
}

const notHeldSql = `
SELECT asked.value FROM json_each(?) asked
WHERE NOT EXISTS (
  SELECT 1 FROM part_holders h JOIN parts p ON p.id = h.part_id
  WHERE h.session_id = ? AND h.digest = unhex(asked.value) AND p.damaged = 0
)`;

/** Returns which of these parts the session does not have whole. */
export function notHeld(database: Database, session: SessionRow, digests: readonly Digest[]): readonly Digest[] {
  return database.all<[Digest]>(notHeldSql, JSON.stringify(digests), session.id).map(([digest]) => digest);
}

const heldSql = `
SELECT lower(hex(digest)) FROM part_holders WHERE session_id = ? AND digest > unhex(?) ORDER BY digest LIMIT ?`;

/** Returns the digests of the parts of a session, rising. */
export function heldParts(database: Database, session: SessionRow, after: Digest | undefined, limit: number): Digest[] {
  return database.all<[Digest]>(heldSql, session.id, after ?? '', limit).map(([digest]) => digest);
}

const heldAmongSql = `
SELECT lower(hex(h.digest)) FROM json_each(?) asked
CROSS JOIN part_holders h ON h.session_id = ? AND h.digest = unhex(asked.value)`;
const storedAmongSql = `
SELECT asked.value, p.id, p.kind, p.salt, iif(p.kind = 'delta', p.text, NULL) FROM json_each(?) asked
CROSS JOIN parts p ON p.namespace_id = ? AND p.digest = unhex(asked.value) AND p.damaged = 0`;

/** Returns the lookups that planning the parts of an append needs. It asks about all of them at once. */
export function partLookupOf(database: Database, session: SessionRow, parts: readonly PartInput[]): PartLookup {
  const asked = JSON.stringify(parts.map(({ digest }) => digest));
  const rows = parts.length === 0 ? [] : database.all<[Digest]>(heldAmongSql, asked, session.id);
  const held = new Set(rows.map(([digest]) => digest));
  const isNew = held.size < parts.length;
  const found = isNew ? database.all<StoredRow>(storedAmongSql, asked, session.namespaceId) : [];
  const stored = new Map(found.map(([digest, id, kind, salt, text]) => [digest, { id, kind, salt, text }]));
  return {
    isHeld: (digest) => held.has(digest),
    stored: (digest) => stored.get(digest),
    part: (digest) => heldPart(database, session, digest),
  };
}

type StoredRow = readonly [digest: Digest, id: number, kind: string, salt: string | null, text: string | null];

/** Returns the bytes of the parts that an append brings to the session. */
export function bytesOfParts(plans: readonly PartPlan[]): number {
  let bytes = 0;
  for (const { part } of plans) bytes += Buffer.byteLength(part.text);
  return bytes;
}

const addSql =
  'INSERT INTO parts (id, namespace_id, digest, kind, salt, damaged, refs, text) VALUES (?, ?, unhex(?), ?, ?, ?, ?, ?)';
const completeSql = 'UPDATE parts SET kind = ?, text = ?, refs = NULL WHERE id = ?';
const holdSql =
  'INSERT INTO part_holders (session_id, digest, part_id, branch_id, bytes) VALUES (?, unhex(?), ?, ?, ?)';

/** Stores the parts as planned, and makes the session hold every one of them. */
export function holdParts(
  database: Database,
  session: SessionRow,
  branch: BranchRow,
  plans: readonly PartPlan[],
): void {
  if (plans.length === 0) return;
  let [last] = database.one<[number]>('SELECT coalesce(max(id), 0) FROM parts');
  database.repeat(addSql, (add) =>
    database.repeat(holdSql, (hold) => {
      for (const { plan, textBytes } of inPagingOrder(plans.map(sized), planBytes)) {
        const { digest, kind, salt, damaged, refs, text } = plan.part;
        const id = 'id' in plan ? plan.id : ++last;
        const refsText = refs.length === 0 ? null : JSON.stringify(refs);
        if (!('id' in plan))
          add.get(id, session.namespaceId, digest, kind, salt, damaged === true ? 1 : 0, refsText, text);
        if (plan.kind === 'complete') database.run(completeSql, kind, text, id);
        hold.get(session.id, digest, id, branch.id, textBytes);
      }
    }),
  );
}

/** A part that is planned, and the size of its text. */
interface SizedPlan {
  readonly plan: PartPlan;
  readonly textBytes: number;
}

const sized = (plan: PartPlan): SizedPlan => ({ plan, textBytes: Buffer.byteLength(plan.part.text) });

/** A digest takes 32 bytes, half of its text; the ids before it take few. */
const planBytes = ({ plan: { part }, textBytes }: SizedPlan): number =>
  cellBytes([part.digest.slice(32), part.kind, part.salt, ...part.refs, part.text], textBytes) + 6;

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
