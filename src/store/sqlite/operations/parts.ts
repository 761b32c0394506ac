import { partDamaged } from '../../../core/append-judgement.ts';
import type { PartInput } from '../../../core/parts.ts';
import type { Digest } from '../../../core/point.ts';
import type { SessionRow } from '../catalogue.ts';
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
  const part = { digest, kind, salt, text, refs: refs === null ? [] : (JSON.parse(refs) as Digest[]) };
  return damaged === 1 ? { ...part, damaged: true } : part;
}

const partsSql = `
SELECT ${columns} FROM json_each(?) asked
JOIN part_holders h ON h.session_id = ? AND h.digest = unhex(asked.value) JOIN parts p ON p.id = h.part_id`;

/** The parts of these digests that the session holds. */
export function findParts(
  database: Database,
  session: SessionRow,
  digests: readonly Digest[],
): ReadonlyMap<Digest, PartInput> {
  const rows = database.all<PartRow>(partsSql, JSON.stringify(digests), session.id);
  return new Map(rows.map((row) => [row[0], partOf(row)]));
}

/** One part the session holds. */
export function heldPart(database: Database, session: SessionRow, digest: Digest): PartInput | undefined {
  return findParts(database, session, [digest]).get(digest);
}

const notHeldSql = `
SELECT asked.value FROM json_each(?) asked
WHERE NOT EXISTS (SELECT 1 FROM part_holders h WHERE h.session_id = ? AND h.digest = unhex(asked.value))`;

/** Which of these parts the session does not hold. */
export function notHeld(database: Database, session: SessionRow, digests: readonly Digest[]): readonly Digest[] {
  return database.all<[Digest]>(notHeldSql, JSON.stringify(digests), session.id).map(([digest]) => digest);
}

const heldSql = `
SELECT lower(hex(digest)) FROM part_holders WHERE session_id = ? AND digest > unhex(?) ORDER BY digest LIMIT ?`;

/** The digests of the parts a session holds, rising. */
export function heldParts(database: Database, session: SessionRow, after: Digest | undefined, limit: number): Digest[] {
  return database.all<[Digest]>(heldSql, session.id, after ?? '', limit).map(([digest]) => digest);
}

/** Stores the parts of an append that the namespace does not have, and makes the session hold all of them. */
export function holdParts(database: Database, session: SessionRow, parts: readonly PartInput[]): void {
  for (const part of parts) {
    if (
      database.get('SELECT 1 FROM part_holders WHERE session_id = ? AND digest = unhex(?)', session.id, part.digest) !==
      undefined
    )
      continue;
    const id = sharedPart(database, session, part) ?? addPart(database, session, part);
    database.run(
      'INSERT INTO part_holders (session_id, digest, part_id) VALUES (?, unhex(?), ?)',
      session.id,
      part.digest,
      id,
    );
  }
}

/** The same part of another session. Its text must be the one given: holding a part is how a session comes to see it. */
function sharedPart(database: Database, session: SessionRow, part: PartInput): number | undefined {
  const row = database.get<[number, string, string, string | null]>(
    'SELECT id, kind, text, salt FROM parts WHERE namespace_id = ? AND digest = unhex(?) AND damaged = 0',
    session.namespaceId,
    part.digest,
  );
  if (row === undefined) return undefined;
  const [id, kind, text, salt] = row;
  if ((kind === 'delta' || part.kind === 'delta') && (text !== part.text || salt !== part.salt))
    throw partDamaged(part.digest);
  return id;
}

function addPart(database: Database, session: SessionRow, part: PartInput): number {
  return database.run(
    'INSERT INTO parts (namespace_id, digest, kind, salt, refs, text) VALUES (?, unhex(?), ?, ?, ?, ?)',
    session.namespaceId,
    part.digest,
    part.kind,
    part.salt,
    part.refs.length === 0 ? null : JSON.stringify(part.refs),
    part.text,
  ).rowid;
}

/** Makes a session forget parts; those that no session holds any more are deleted. */
export function forgetParts(database: Database, session: { readonly id: number }, digests: readonly Digest[]): void {
  for (const digest of digests) {
    const row = database.get<[number]>(
      'SELECT part_id FROM part_holders WHERE session_id = ? AND digest = unhex(?)',
      session.id,
      digest,
    );
    if (row === undefined) continue;
    database.run('DELETE FROM part_holders WHERE session_id = ? AND digest = unhex(?)', session.id, digest);
    database.run(
      'DELETE FROM parts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM part_holders WHERE part_id = ?)',
      row[0],
      row[0],
    );
  }
}
