import type { EraseRequest } from '../../../core/store/event-store.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { Queries } from '../connection.ts';
import type { SessionKey } from '../session-row.ts';
import { addHole } from './hold-parts.ts';
import { countErased } from './parts.ts';

type Rewrite = EraseRequest['rewrites'][number];

/** Gives a part a new text under its old digest. A hole is for this session alone; other sessions keep the part. */
export async function rewritePart(queries: Queries, session: SessionKey, part: Rewrite): Promise<void> {
  const row = await queries.get<[number, number, number]>(
    `SELECT p.id, h.branch_id, h.bytes FROM part_holders h JOIN parts p ON p.namespace_id = $1 AND p.id = h.part_id
     WHERE h.namespace_id = $1 AND h.session_id = $2 AND h.digest = decode($3, 'hex') FOR UPDATE OF p`,
    session.namespaceId,
    session.id,
    part.digest,
  );
  if (row === undefined) return;
  const [id, branchId, bytesBefore] = row;
  // Counts holders after locking the part, so that an append that is about to share it is counted.
  const holders = await queries.all(
    'SELECT 1 FROM part_holders WHERE namespace_id = $1 AND part_id = $2 LIMIT 2',
    session.namespaceId,
    id,
  );
  const bytes = Buffer.byteLength(part.text);
  const refs = part.refs.length === 0 ? null : arrayLiteral(part.refs);
  const held =
    part.damaged && holders.length > 1
      ? await addHole(queries, session, part)
      : await replaceText(queries, session, part, refs, id);
  await queries.run(
    `UPDATE part_holders SET part_id = $4, bytes = $5 WHERE namespace_id = $1 AND session_id = $2 AND digest = decode($3, 'hex')`,
    session.namespaceId,
    session.id,
    part.digest,
    held,
    bytes,
  );
  // Counts a rewritten part with its new text, which may be longer: a body that was a delta is stored in full.
  await countErased(queries, session, branchId, bytesBefore - bytes);
}

async function replaceText(
  queries: Queries,
  session: SessionKey,
  part: Rewrite,
  refs: string | null,
  id: number,
): Promise<number> {
  await queries.run(
    `UPDATE parts SET kind = $3, salt = $4, refs = $5::text[], text = $6, damaged = damaged OR $7::boolean WHERE namespace_id = $1 AND id = $2`,
    session.namespaceId,
    id,
    part.kind,
    part.salt,
    refs,
    part.text,
    part.damaged === true,
  );
  return id;
}
