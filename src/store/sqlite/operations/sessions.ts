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
import type { Catalogue } from '../catalogue.ts';
import type { Database } from '../database.ts';

// Among the last events of the branches, the one with the greatest rowid is the last append.
const selectSql = `
SELECT n.name, s.name, s.seed, s.genesis, s.root, s.created_at, s.erasures, s.touched, (
  SELECT last.time FROM branches b
  JOIN events last ON last.rowid = (SELECT l.rowid FROM events l WHERE l.branch_id = b.id ORDER BY l.seq DESC LIMIT 1)
  WHERE b.session_id = s.id ORDER BY last.rowid DESC LIMIT 1)
FROM sessions s JOIN namespaces n ON n.id = s.namespace_id`;

/** Returns one session; undefined if it does not exist. */
export function findSession(database: Database, { namespace, session }: SessionRef): SessionRecord | undefined {
  const row = database.get<SessionRow>(`${selectSql} WHERE n.name = ? AND s.name = ?`, namespace, session);
  return row === undefined ? undefined : sessionOf(row);
}

/** Creates a session with one empty branch, inside the caller's transaction. */
export function createSession(
  database: Database,
  catalogue: Catalogue,
  platform: Platform,
  ref: SessionRef,
  options: NewSession,
): SessionRecord {
  if (catalogue.session(ref) !== undefined) throw sessionExists(ref);
  const { createdAt = platform.now(), erasures = 0 } = options;
  const genesis = genesisDigest(platform.sha256, options.seed);
  database.run('INSERT OR IGNORE INTO namespaces (name) VALUES (?)', ref.namespace);
  const rowid = database.insert(
    `INSERT INTO sessions (namespace_id, name, genesis, seed, root, created_at, erasures, touched)
     SELECT n.id, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(touched), 0) + 1 FROM sessions) FROM namespaces n WHERE n.name = ?`,
    ref.session,
    genesis,
    options.seed,
    options.root,
    createdAt,
    erasures,
    ref.namespace,
  );
  database.run('INSERT INTO branches (session_id, name) VALUES (?, ?)', rowid, options.root);
  catalogue.forget();
  return {
    namespace: ref.namespace,
    session: ref.session,
    seed: options.seed,
    genesis,
    root: options.root,
    createdAt,
    updatedAt: createdAt,
    erasures,
  };
}

/** Lists sessions, last appended to first. The cursor is the position of the last one in that order. */
export function listSessions(database: Database, request: SessionsRequest): SessionsPage {
  const { namespace, limit } = request;
  const count = Math.min(limit, limits.sessionsPageMax);
  const before = Math.min(Number(positionOf(request)), Number.MAX_SAFE_INTEGER);
  const where = `s.name IS NOT NULL AND s.touched < ?${namespace === undefined ? '' : ' AND n.name = ?'}`;
  const values = namespace === undefined ? [before, count] : [before, namespace, count];
  const rows = database.all<SessionRow>(`${selectSql} WHERE ${where} ORDER BY s.touched DESC LIMIT ?`, ...values);
  return sessionsPage(rows, count);
}
