import type { SessionRef } from '../../../core/store/event-store.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Database, InTransaction } from '../database.ts';

/** Rows deleted in one transaction, so that it stays short. */
const rowsMax = 1_000;

/** Takes the name from a session: from here on it does not exist. Returns its row id; undefined if there was none. */
export function hideSession(database: Database, catalogue: Catalogue, ref: SessionRef): number | undefined {
  const session = catalogue.session(ref);
  if (session === undefined) return undefined;
  database.run('UPDATE sessions SET name = NULL WHERE id = ?', session.id);
  catalogue.forget();
  return session.id;
}

/** Returns sessions whose rows a deletion has left behind. */
export function hiddenSessions(database: Database): number[] {
  return database.all<[number]>('SELECT id FROM sessions WHERE name IS NULL').map(([id]) => id);
}

/** Deletes everything that only this session has, a few rows at a time. */
export async function clearSession(database: Database, sessionId: number, inTransaction: InTransaction): Promise<void> {
  for (const sql of clearingSql) {
    while ((await inTransaction(() => database.change(sql, sessionId, rowsMax))) > 0) {
      // Each round is a short transaction; appends of other sessions get their turn in between.
    }
  }
}

const branches = '(SELECT id FROM branches WHERE session_id = ?)';

const clearingSql = [
  `DELETE FROM event_keys WHERE (branch_id, key, seq) IN (SELECT branch_id, key, seq FROM event_keys WHERE branch_id IN ${branches} LIMIT ?)`,
  `DELETE FROM clocks WHERE (branch_id, seq) IN (SELECT branch_id, seq FROM clocks WHERE branch_id IN ${branches} LIMIT ?)`,
  `DELETE FROM events WHERE rowid IN (SELECT rowid FROM events WHERE branch_id IN ${branches} LIMIT ?)`,
  `DELETE FROM snapshots WHERE rowid IN (SELECT rowid FROM snapshots WHERE branch_id IN ${branches} LIMIT ?)`,
  'DELETE FROM receipts WHERE rowid IN (SELECT rowid FROM receipts WHERE session_id = ? LIMIT ?)',
  // First the parts that only this session has, then its hold on the others.
  `DELETE FROM parts WHERE id IN (
     SELECT h.part_id FROM part_holders h JOIN parts p ON p.id = h.part_id WHERE h.session_id = ?
     AND NOT EXISTS (SELECT 1 FROM part_holders o WHERE o.part_id = h.part_id AND o.session_id <> h.session_id) LIMIT ?)`,
  'DELETE FROM part_holders WHERE (session_id, digest) IN (SELECT session_id, digest FROM part_holders WHERE session_id = ? LIMIT ?)',
  'DELETE FROM branches WHERE id IN (SELECT id FROM branches WHERE session_id = ? LIMIT ?)',
  'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE id = ? LIMIT ?)',
];
