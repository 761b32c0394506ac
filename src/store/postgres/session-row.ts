import type { Digest } from '../../core/point.ts';
import type { SessionRef } from '../../core/store/event-store.ts';
import { arrayLiteral } from './array-literal.ts';
import type { Queries } from './connection.ts';
import { checkOldest, oldestSql } from './migrate.ts';

/** The key that the rows of a session start with. */
export interface SessionKey {
  readonly namespaceId: number;
  readonly id: number;
}

/** A session as stored. */
export interface SessionRow extends SessionKey {
  readonly name: string;
  readonly genesis: Digest;
  readonly root: string;
  readonly erasures: number;
  readonly branches: number;
}

type SessionColumns = readonly [number, number, string, Digest, string, number, number, oldest: number];

// A store may be migrated while it is open, so every lookup of a session checks the schema, too.
const sessionColumns = `s.namespace_id, s.id, s.name, s.genesis, s.root, s.erasures, s.branches, ${oldestSql}`;

// The range with an order leaves PostgreSQL one index to choose. With a plain comparison of the name it may go through the
// whole namespace instead, as long as it has no statistics of the table.
const sessionSql = `
SELECT ${sessionColumns}
FROM sessions s WHERE s.namespace_id = (SELECT id FROM namespaces WHERE name = $1) AND s.name >= $2 AND s.name <= $2 ORDER BY s.name LIMIT 1`;

function sessionOfColumns({ schemaKnown }: Queries, row: readonly [...SessionColumns, ...unknown[]]): SessionRow {
  const [namespaceId, id, name, genesis, root, erasures, branches, oldest] = row;
  checkOldest(oldest, schemaKnown);
  return { namespaceId, id, name, genesis, root, erasures, branches };
}

/** Returns one session; undefined if it does not exist. */
export async function findSessionRow(queries: Queries, ref: SessionRef): Promise<SessionRow | undefined> {
  const row = await queries.get<SessionColumns>(sessionSql, ref.namespace, ref.session);
  return row === undefined ? undefined : sessionOfColumns(queries, row);
}

/**
 * Locks one session against other writers until the transaction ends; undefined if it does not exist. `wholly` locks
 * out even those that only keep a snapshot.
 */
export async function lockSession(
  queries: Queries,
  ref: SessionRef,
  { wholly = false }: { readonly wholly?: boolean } = {},
): Promise<SessionRow | undefined> {
  const lock = wholly ? 'FOR UPDATE' : 'FOR NO KEY UPDATE';
  for (;;) {
    const row = await queries.get<SessionColumns>(`${sessionSql} ${lock}`, ref.namespace, ref.session);
    if (row !== undefined) return sessionOfColumns(queries, row);
    // While this waited for the lock, the session may have been renamed and a new one created under its name: look again.
    if ((await findSessionRow(queries, ref)) === undefined) return undefined;
  }
}

/** Locks a session by its key until the transaction ends; false if it does not exist. */
export async function holdSession(queries: Queries, { namespaceId, id }: SessionKey): Promise<boolean> {
  const sql = 'SELECT 1 FROM sessions WHERE namespace_id = $1 AND id = $2 FOR NO KEY UPDATE';
  return (await queries.get(sql, namespaceId, id)) !== undefined;
}

const lockManySql = `
WITH found AS MATERIALIZED (
  SELECT n.id AS namespace_id, near.id, n.name, asked.session FROM unnest($1::text[], $2::text[]) asked (namespace, session)
  JOIN LATERAL (SELECT id, name FROM namespaces WHERE name >= asked.namespace AND name <= asked.namespace ORDER BY name LIMIT 1) n ON true
  JOIN LATERAL (SELECT id FROM sessions WHERE namespace_id = n.id AND name >= asked.session AND name <= asked.session ORDER BY name LIMIT 1) near ON true
  ORDER BY n.id, near.id
)
SELECT ${sessionColumns}, found.name, found.session FROM found
JOIN LATERAL (SELECT * FROM sessions WHERE namespace_id = found.namespace_id AND id >= found.id ORDER BY id LIMIT 1 FOR NO KEY UPDATE) s
ON s.id = found.id`;

/**
 * Locks several sessions, always in the same order, so that two writers never wait for each other; returns those that
 * exist. If a session lost its name before it was locked, this looks again: a new one may have the name now.
 */
export async function lockSessions(
  queries: Queries,
  refs: readonly SessionRef[],
): Promise<{ readonly namespace: string; readonly session: SessionRow }[]> {
  const locked: { readonly namespace: string; readonly session: SessionRow }[] = [];
  for (let asked = refs; asked.length > 0; ) {
    const rows = await queries.all<[...SessionColumns, namespace: string, session: string]>(
      lockManySql,
      arrayLiteral(asked.map(({ namespace }) => namespace)),
      arrayLiteral(asked.map(({ session }) => session)),
    );
    const found = rows.map((row) => ({
      ref: { namespace: row[8], session: row[9] },
      session: sessionOfColumns(queries, row),
    }));
    for (const { ref, session } of found)
      if (session.name === ref.session) locked.push({ namespace: ref.namespace, session });
    asked = found.filter(({ ref, session }) => session.name !== ref.session).map(({ ref }) => ref);
  }
  return locked;
}
