import { limits } from '../../../core/limits.ts';
import { genesisDigest } from '../../../core/parts/digest.ts';
import { beginning } from '../../../core/point.ts';
import type {
  Platform,
  SessionRecord,
  SessionRef,
  SessionsPage,
  SessionsRequest,
} from '../../../core/store/event-store.ts';
import { type NewSession, positionOf, sessionExists } from '../../../core/store/session-request.ts';
import { findHeld, type HeldBranch, type HeldSession, type Shelf } from '../shelf.ts';

/** Returns the record of a session. */
export function recordOf({
  namespace,
  session,
  seed,
  genesis,
  root,
  createdAt,
  updatedAt,
  erasures,
}: HeldSession): SessionRecord {
  return { namespace, session, seed, genesis, root, createdAt, updatedAt, erasures };
}

/** Creates a session with one empty branch. */
export function createSession(
  shelf: Shelf,
  platform: Platform,
  ref: SessionRef,
  { root, seed, createdAt = platform.now(), erasures = 0 }: NewSession,
): SessionRecord {
  if (findHeld(shelf, ref) !== undefined) throw sessionExists(ref);
  const genesis = genesisDigest(platform.sha256, seed);
  const state = {
    branch: root,
    history: { root, markers: [], head: beginning },
    digest: genesis,
    epoch: beginning,
    turn: 0,
  };
  const branch: HeldBranch = {
    name: root,
    parent: undefined,
    createdAt,
    events: [],
    clocks: [],
    parts: new Set(),
    keys: new Map(),
    sortedKeys: [],
    state,
  };
  const session: HeldSession = {
    namespace: ref.namespace,
    session: ref.session,
    seed,
    genesis,
    root,
    createdAt,
    updatedAt: createdAt,
    erasures,
    touched: ++shelf.touches,
    branches: new Map([[root, branch]]),
    places: new Map(),
    parts: new Map(),
    snapshots: new Map(),
    receipts: new Map(),
  };
  const namespace = shelf.namespaces.get(ref.namespace) ?? new Map<string, HeldSession>();
  shelf.namespaces.set(ref.namespace, namespace.set(ref.session, session));
  return recordOf(session);
}

/** Lists sessions, last appended to first. The cursor is the position of the last one in that order. */
export function listSessions(shelf: Shelf, request: SessionsRequest): SessionsPage {
  const { namespace, limit } = request;
  const count = Math.min(limit, limits.sessionsPageMax);
  const before = Number(positionOf(request));
  const walls =
    namespace === undefined
      ? [...shelf.namespaces.values()]
      : [shelf.namespaces.get(namespace) ?? new Map<string, HeldSession>()];
  const held = walls.flatMap((wall) => [...wall.values()]).filter((session) => session.touched < before);
  const page = held.sort((a, b) => b.touched - a.touched).slice(0, count);
  const sessions = page.map(recordOf);
  return page.length < count ? { sessions } : { sessions, next: String(page.at(-1)?.touched) };
}
