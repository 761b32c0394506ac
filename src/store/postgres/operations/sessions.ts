import { limits } from '../../../core/limits.ts';
import { genesisDigest } from '../../../core/parts/digest.ts';
import type { Digest } from '../../../core/point.ts';
import type {
  Platform,
  SessionRecord,
  SessionRef,
  SessionsPage,
  SessionsRequest,
} from '../../../core/store/event-store.ts';
import { type NewSession, sessionExists } from '../../../core/store/session-request.ts';
import type { Queries } from '../connection.ts';
import { touchSpan } from './write-rows.ts';

type SessionColumns = readonly [
  namespace: string,
  session: string,
  seed: string,
  genesis: Digest,
  root: string,
  createdAt: string,
  erasures: number,
  place: string,
  updatedAt: string | null,
];

// The session was last appended to on the branch that was touched last.
const updatedAtSql =
  '(SELECT b.updated_at FROM branches b WHERE b.namespace_id = s.namespace_id AND b.session_id = s.id ORDER BY b.touched DESC LIMIT 1)';
const selectSql = `
SELECT n.name, s.name, s.seed, s.genesis, s.root, s.created_at, s.erasures, s.touched::text, ${updatedAtSql}
FROM sessions s JOIN namespaces n ON n.id = s.namespace_id`;

function recordOf(row: SessionColumns): SessionRecord {
  const [namespace, session, seed, genesis, root, createdAt, erasures, , updatedAt] = row;
  return { namespace, session, seed, genesis, root, createdAt, updatedAt: updatedAt ?? createdAt, erasures };
}

/** One session; undefined if it does not exist. */
export async function findSession(queries: Queries, ref: SessionRef): Promise<SessionRecord | undefined> {
  const row = await queries.get<SessionColumns>(
    `${selectSql} WHERE n.name = $1 AND s.name = $2`,
    ref.namespace,
    ref.session,
  );
  return row === undefined ? undefined : recordOf(row);
}

/**
 * Makes a session with one empty branch, inside the caller's transaction. An earlier try that was committed after all is
 * known by the seed, which is random.
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
  // Whoever made it in between has committed: the insert waited for that.
  return (made ?? ((await queries.get<[number]>(find, name)) as [number]))[0];
}

/** Beyond every place, with room for a span. Places are text here: in a busy store they outgrow what a number can carry. */
const placeMax = '9000000000000000000';

/** The beginning of the span that a place lies in. */
const spanOf = (place: string): string => `(${place} - ${place} % ${touchSpan})`;

/**
 * Sessions, last appended to first. The branches of a session tell its place in that order; its own row tells the span
 * of places that it lies in, so all rows of a span are looked at, and those of as many spans as a page takes. The cursor
 * is the place of the last one.
 */
export async function listSessions(
  queries: Queries,
  { namespace, limit, cursor }: SessionsRequest,
): Promise<SessionsPage> {
  const count = Math.min(limit, limits.sessionsPageMax);
  const before = cursor ?? placeMax;
  const where = `s.name IS NOT NULL${namespace === undefined ? '' : ' AND s.namespace_id = (SELECT id FROM namespaces WHERE name = $3)'}`;
  const rows = await queries.all<SessionColumns>(
    `SELECT n.name, s.name, s.seed, s.genesis, s.root, s.created_at, s.erasures, s.place::text, ${updatedAtSql} FROM (
       SELECT s.*, greatest(s.touched, (SELECT max(b.touched) FROM branches b WHERE b.namespace_id = s.namespace_id AND b.session_id = s.id)) AS place
       FROM sessions s WHERE ${where} AND s.touched < ${spanOf('$1::bigint')} + ${touchSpan} AND s.touched >= coalesce((
         SELECT ${spanOf('min(touched)')} FROM (
           SELECT s.touched FROM sessions s WHERE ${where} AND s.touched < ${spanOf('$1::bigint')} ORDER BY s.touched DESC LIMIT $2::bigint) page), 0)
       ORDER BY s.touched DESC OFFSET 0) s
     JOIN namespaces n ON n.id = s.namespace_id WHERE s.place < $1::bigint ORDER BY s.place DESC LIMIT $2::bigint`,
    before,
    count,
    ...(namespace === undefined ? [] : [namespace]),
  );
  const sessions = rows.map(recordOf);
  return rows.length < count ? { sessions } : { sessions, next: rows.at(-1)?.[7] as string };
}
