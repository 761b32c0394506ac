import type { EraseRequest } from '../../../core/store/event-store.ts';
import type { SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { erasedBytesSql } from './parts.ts';

/** Gives a part a new text under its old digest. A hole is for this session alone; other sessions keep the part. */
export function rewritePart(database: Database, session: SessionRow, part: EraseRequest['rewrites'][number]): void {
  const row = database.get<[number, number, number, number]>(
    `SELECT p.id, h.branch_id, h.bytes, (SELECT count(*) FROM (SELECT 1 FROM part_holders o WHERE o.part_id = p.id LIMIT 2))
     FROM part_holders h JOIN parts p ON p.id = h.part_id WHERE h.session_id = ? AND h.digest = unhex(?)`,
    session.id,
    part.digest,
  );
  if (row === undefined) return;
  const [id, branchId, bytesBefore, holders] = row;
  countText(database, session, part, branchId, bytesBefore);
  const damaged = part.damaged ? 1 : 0;
  const refs = part.refs.length === 0 ? null : JSON.stringify(part.refs);
  if (part.damaged && holders > 1) {
    const rowid = database.insert(
      `INSERT INTO parts (namespace_id, digest, kind, salt, damaged, refs, text) VALUES (?, unhex(?), ?, ?, 1, ?, ?)`,
      session.namespaceId,
      part.digest,
      part.kind,
      part.salt,
      refs,
      part.text,
    );
    database.run(
      'UPDATE part_holders SET part_id = ? WHERE session_id = ? AND digest = unhex(?)',
      rowid,
      session.id,
      part.digest,
    );
  } else {
    database.run(
      'UPDATE parts SET kind = ?, salt = ?, text = ?, refs = ?, damaged = max(damaged, ?) WHERE id = ?',
      part.kind,
      part.salt,
      part.text,
      refs,
      damaged,
      id,
    );
  }
}

/** Counts a rewritten part with its new text, which may be longer: a body that was a delta is stored in full. */
function countText(
  database: Database,
  session: SessionRow,
  part: EraseRequest['rewrites'][number],
  branchId: number,
  bytesBefore: number,
): void {
  const bytes = Buffer.byteLength(part.text);
  database.run(
    'UPDATE part_holders SET bytes = ? WHERE session_id = ? AND digest = unhex(?)',
    bytes,
    session.id,
    part.digest,
  );
  database.run(erasedBytesSql, bytesBefore - bytes, branchId);
}
