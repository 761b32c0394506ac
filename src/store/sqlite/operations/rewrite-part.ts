import { refsIn } from '../../../core/decode.ts';
import type { ListNode, PartInput } from '../../../core/parts.ts';
import type { Digest } from '../../../core/point.ts';
import type { EraseRequest } from '../../../core/ports.ts';
import type { SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';

/** Gives a part a new text under its old digest. A hole is for this session alone: others keep the part as it was. */
export function rewritePart(
  database: Database,
  session: SessionRow,
  { digest, text, damaged }: EraseRequest['rewrites'][number],
): void {
  const row = database.get<[number, PartInput['kind'], number]>(
    `SELECT p.id, p.kind, (SELECT count(*) FROM (SELECT 1 FROM part_holders o WHERE o.part_id = p.id LIMIT 2))
     FROM part_holders h JOIN parts p ON p.id = h.part_id WHERE h.session_id = ? AND h.digest = unhex(?)`,
    session.id,
    digest,
  );
  if (row === undefined) return;
  const [id, oldKind, holders] = row;
  // A delta that gets a text of its own is a body from then on.
  const kind = oldKind === 'delta' ? 'body' : oldKind;
  const found = refsOf(kind, text);
  const refs = found.length === 0 ? null : JSON.stringify(found);
  if (damaged && holders > 1) {
    const { rowid } = database.run(
      `INSERT INTO parts (namespace_id, digest, kind, salt, damaged, refs, text)
       SELECT namespace_id, digest, ?, salt, 1, ?, ? FROM parts WHERE id = ?`,
      kind,
      refs,
      text,
      id,
    );
    database.run(
      'UPDATE part_holders SET part_id = ? WHERE session_id = ? AND digest = unhex(?)',
      rowid,
      session.id,
      digest,
    );
  } else {
    database.run(
      'UPDATE parts SET kind = ?, text = ?, refs = ?, damaged = max(damaged, ?) WHERE id = ?',
      kind,
      text,
      refs,
      damaged ? 1 : 0,
      id,
    );
  }
}

function refsOf(kind: PartInput['kind'], text: string): Digest[] {
  if (kind === 'body' || kind === 'value') return [];
  const { previous } = kind === 'list' ? (JSON.parse(text) as ListNode) : { previous: null };
  return previous === null ? refsIn(text) : [previous, ...refsIn(text)];
}
