import type { Digest } from '../../core/point.ts';
import type { SessionRecord, SessionsPage } from '../../core/store/event-store.ts';

/** A session as a listing selects it. `position` is its place in the order of the last append. */
export type SessionRow = readonly [
  namespace: string,
  session: string,
  seed: string,
  genesis: Digest,
  root: string,
  createdAt: string,
  erasures: number,
  position: string | number,
  updatedAt: string | null,
];

/** Returns the record of a row. A session without events was last updated when it was created. */
export function sessionOf(row: SessionRow): SessionRecord {
  const [namespace, session, seed, genesis, root, createdAt, erasures, , updatedAt] = row;
  return { namespace, session, seed, genesis, root, createdAt, updatedAt: updatedAt ?? createdAt, erasures };
}

/** Returns a page of a listing; its cursor is the position of the last session. */
export function sessionsPage(rows: readonly SessionRow[], limit: number): SessionsPage {
  const sessions = rows.map(sessionOf);
  const last = rows.at(-1);
  return last === undefined || rows.length < limit ? { sessions } : { sessions, next: String(last[7]) };
}
