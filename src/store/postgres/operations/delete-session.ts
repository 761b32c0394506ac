import type { SessionRef } from '../../../core/store/event-store.ts';
import type { InTransaction, Queries } from '../connection.ts';
import { holdSession, lockSession, type SessionKey } from '../session-row.ts';
import { dropUnheld } from './parts.ts';

/** Rows deleted in one transaction, so that it stays short. */
const rowsMax = 1_000;

/**
 * Takes the name from a session: from here on it does not exist. Returns its key; undefined if there was none. `hidden` is
 * the session of an earlier try: if that was committed after all, its name is free or belongs to a new session.
 */
export async function hideSession(
  queries: Queries,
  ref: SessionRef,
  hidden: SessionKey | undefined,
): Promise<SessionKey | undefined> {
  const session = await lockSession(queries, ref, { wholly: true });
  if (session === undefined || (hidden !== undefined && hidden.id !== session.id)) return hidden;
  await queries.run(
    'UPDATE sessions SET name = NULL WHERE namespace_id = $1 AND id = $2',
    session.namespaceId,
    session.id,
  );
  return session;
}

/** Returns sessions whose rows a deletion has left behind. */
export async function hiddenSessions(queries: Queries): Promise<SessionKey[]> {
  const rows = await queries.all<[number, number]>(
    'SELECT namespace_id, id FROM sessions WHERE name IS NULL LIMIT 1000',
  );
  return rows.map(([namespaceId, id]) => ({ namespaceId, id }));
}

/**
 * Deletes everything that only this session has, a few rows at a time. Two processes may do so at once: each round
 * waits for the other's. Otherwise it could find nothing left and delete the row of the session too soon.
 */
export async function clearSession(session: SessionKey, inTransaction: InTransaction): Promise<void> {
  const inTurn: InTransaction = (work) =>
    inTransaction(async (queries) => {
      await holdSession(queries, session);
      return await work(queries);
    });
  for (const table of ['event_keys', 'events', 'snapshots', 'receipts']) {
    const sql = `DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE namespace_id = $1 AND session_id = $2 LIMIT ${rowsMax}))`;
    while ((await inTurn((queries) => queries.change(sql, session.namespaceId, session.id))) > 0) {
      // Each round is a short transaction; appends of other sessions get their turn in between.
    }
  }
  while ((await inTurn((queries) => clearParts(queries, session))) > 0) {
    // As above.
  }
  await inTurn(async (queries) => {
    await queries.run(
      'DELETE FROM branches WHERE namespace_id = $1 AND session_id = $2',
      session.namespaceId,
      session.id,
    );
    await queries.run('DELETE FROM sessions WHERE namespace_id = $1 AND id = $2', session.namespaceId, session.id);
  });
}

async function clearParts(queries: Queries, session: SessionKey): Promise<number> {
  const gone = await queries.all<[number]>(
    `DELETE FROM part_holders WHERE ctid = ANY(ARRAY(SELECT ctid FROM part_holders WHERE namespace_id = $1 AND session_id = $2 LIMIT ${rowsMax})) RETURNING part_id`,
    session.namespaceId,
    session.id,
  );
  await dropUnheld(
    queries,
    session.namespaceId,
    gone.map(([id]) => id),
  );
  return gone.length;
}
