import { limits } from '../../../core/limits.ts';
import { genesisDigest } from '../../../core/parts/digest.ts';
import type {
  Platform,
  SessionRecord,
  SessionRef,
  SessionsPage,
  SessionsRequest,
} from '../../../core/store/event-store.ts';
import { type NewSession, positionOf, sessionExists } from '../../../core/store/session-request.ts';
import { type SessionRow, sessionOf, sessionsPage } from '../../sql/session-row.ts';
import type { Queries } from '../connection.ts';
import { touchSpan } from './write-rows.ts';

// The branch that was touched last has the time of the last append.
const updatedAtSql =
  '(SELECT b.updated_at FROM branches b WHERE b.namespace_id = s.namespace_id AND b.session_id = s.id ORDER BY b.touched DESC LIMIT 1)';
const selectSql = `
SELECT n.name, s.name, s.seed, s.genesis, s.root, s.created_at, s.erasures, s.touched::text, ${updatedAtSql}
FROM sessions s JOIN namespaces n ON n.id = s.namespace_id`;

/** Returns one session; undefined if it does not exist. */
export async function findSession(queries: Queries, ref: SessionRef): Promise<SessionRecord | undefined> {
  const row = await queries.get<SessionRow>(
    `${selectSql} WHERE n.name = $1 AND s.name = $2`,
    ref.namespace,
    ref.session,
  );
  return row === undefined ? undefined : sessionOf(row);
}

/**
 * Creates a session with one empty branch, inside the caller's transaction. The random seed shows whether an earlier try
 * was committed after all.
 */
export async function createSession(
  queries: Queries,
  platform: Platform,
  ref: SessionRef,
  {
    root,
    seed,
    createdAt = platform.now(),
    erasures = 0,
    isRepeated = false,
  }: NewSession & { readonly isRepeated?: boolean },
): Promise<SessionRecord> {
  const genesis = genesisDigest(platform.sha256, seed);
  const namespaceId = await namespaceIdOf(queries, ref.namespace);
  const made = await queries.get<[number]>(
    `INSERT INTO sessions (namespace_id, name, genesis, seed, root, created_at, erasures, branches, touched)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 1, nextval('touches') * 100000) ON CONFLICT DO NOTHING RETURNING id`,
    namespaceId,
    ref.session,
    genesis,
    seed,
    root,
    createdAt,
    erasures,
  );
  if (made === undefined) {
    const found = isRepeated ? await findSession(queries, ref) : undefined;
    if (found?.seed === seed) return found;
    throw sessionExists(ref);
  }
  await queries.run(
    `INSERT INTO branches (namespace_id, session_id, id, name, depth, head, turn, epoch, marker, touched, digest, created_at, updated_at)
     VALUES ($1, $2, 1, $3, 0, 0, 0, 0, 0, 0, $4, $5, $5)`,
    namespaceId,
    made[0],
    root,
    genesis,
    createdAt,
  );
  return { ...ref, seed, genesis, root, createdAt, updatedAt: createdAt, erasures };
}

async function namespaceIdOf(queries: Queries, name: string): Promise<number> {
  const find = 'SELECT id FROM namespaces WHERE name = $1';
  const found = await queries.get<[number]>(find, name);
  if (found !== undefined) return found[0];
  const made = await queries.get<[number]>(
    'INSERT INTO namespaces (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id',
    name,
  );
  // A different writer made it in between and has committed: the insert waited for that.
  return (made ?? (await queries.one<[number]>(find, name)))[0];
}

/** Returns the start of the span that a position lies in. */
const spanOf = (position: string): string => `(${position} - ${position} % ${touchSpan})`;

/**
 * Lists sessions, last appended to first. The branches of a session have its position in that order; its own row has only
 * the span of positions, so the statement reads all rows of a span, and as many spans as fill a page. The cursor is the
 * position of the last session.
 */
export async function listSessions(queries: Queries, request: SessionsRequest): Promise<SessionsPage> {
  const { namespace, limit } = request;
  const count = Math.min(limit, limits.sessionsPageMax);
  const before = positionOf(request);
  const where = `s.name IS NOT NULL${namespace === undefined ? '' : ' AND s.namespace_id = (SELECT id FROM namespaces WHERE name = $3)'}`;
  const rows = await queries.all<SessionRow>(
    `SELECT n.name, s.name, s.seed, s.genesis, s.root, s.created_at, s.erasures, s.position::text, ${updatedAtSql} FROM (
       SELECT s.*, greatest(s.touched, (SELECT max(b.touched) FROM branches b WHERE b.namespace_id = s.namespace_id AND b.session_id = s.id)) AS position
       FROM sessions s WHERE ${where} AND s.touched < ${spanOf('$1::bigint')} + ${touchSpan} AND s.touched >= coalesce((
         SELECT ${spanOf('min(touched)')} FROM (
           SELECT s.touched FROM sessions s WHERE ${where} AND s.touched < ${spanOf('$1::bigint')} ORDER BY s.touched DESC LIMIT $2::bigint) page), 0)
       ORDER BY s.touched DESC OFFSET 0) s
     JOIN namespaces n ON n.id = s.namespace_id WHERE s.position < $1::bigint ORDER BY s.position DESC LIMIT $2::bigint`,
    before,
    count,
    ...(namespace === undefined ? [] : [namespace]),
  );
  return sessionsPage(rows, count);
}
