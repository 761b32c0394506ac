import type { Clock } from '../../core/event/clock.ts';
import type { Digest, Seq } from '../../core/point.ts';
import type { BranchState } from '../../core/store/append.ts';
import type { SessionRef } from '../../core/store/event-store.ts';
import { type Marker, storedMarker } from '../../core/view/marker.ts';
import { arrayLiteral } from './array-literal.ts';
import type { Queries } from './connection.ts';
import { Heads } from './heads.ts';
import { checkOldest, oldestSql } from './migrate.ts';

/** Where a session's rows are. */
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

/** A branch as stored. */
export interface BranchRow {
  readonly id: number;
  readonly name: string;
  readonly parentId: number | null;
  readonly parentSeq: Seq | null;
  readonly depth: number;
  readonly head: Seq;
  readonly digest: Digest;
  readonly turn: number;
  readonly epoch: Seq;
  readonly lastMarker: Seq;
  readonly eventBytes: number;
  readonly clock: Clock;
}

type SessionColumns = readonly [number, number, string, Digest, string, number, number, oldest: number];

// A store may be migrated while it is open: whoever finds a session also learns whether it may still use what it finds.
const sessionColumns = `s.namespace_id, s.id, s.name, s.genesis, s.root, s.erasures, s.branches, ${oldestSql}`;

// Asked for in order, there is one index to choose: asked for the name itself, PostgreSQL may go through the whole
// namespace instead, as long as it knows nothing of the table yet.
const sessionSql = `
SELECT ${sessionColumns}
FROM sessions s WHERE s.namespace_id = (SELECT id FROM namespaces WHERE name = $1) AND s.name >= $2 AND s.name <= $2 ORDER BY s.name LIMIT 1`;

function sessionOfColumns({ schemaKnown }: Queries, row: SessionColumns): SessionRow {
  const [namespaceId, id, name, genesis, root, erasures, branches, oldest] = row;
  checkOldest(oldest, schemaKnown);
  return { namespaceId, id, name, genesis, root, erasures, branches };
}

/** One session; undefined if it does not exist. */
export async function findSessionRow(queries: Queries, ref: SessionRef): Promise<SessionRow | undefined> {
  const row = await queries.get<SessionColumns>(sessionSql, ref.namespace, ref.session);
  return row === undefined ? undefined : sessionOfColumns(queries, row);
}

/**
 * One session, which nobody else writes to until the transaction ends; undefined if it does not exist. `wholly` also
 * keeps out whoever keeps a snapshot.
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
    // The one that was waited for may have lost its name to another, which is there now.
    if ((await findSessionRow(queries, ref)) === undefined) return undefined;
  }
}

/** Waits until nobody else writes to a session, and keeps it so until the transaction ends; whether it is there at all. */
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
 * Several sessions, locked in one order, so that two writers never wait for each other; those that exist. One that had lost
 * its name when it was locked is looked for again: another may have it now.
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
      session: sessionOfColumns(queries, row as unknown as SessionColumns),
    }));
    for (const { ref, session } of found)
      if (session.name === ref.session) locked.push({ namespace: ref.namespace, session });
    asked = found.filter(({ ref, session }) => session.name !== ref.session).map(({ ref }) => ref);
  }
  return locked;
}

/** A branch as its columns, in the order of {@link branchColumns}. */
export type BranchColumns = readonly [
  id: number,
  name: string,
  parentId: number | null,
  parentSeq: Seq | null,
  depth: number,
  head: Seq,
  digest: Digest,
  turn: number,
  epoch: Seq,
  lastMarker: Seq,
  eventBytes: number,
  latestTime: string,
  highestTurn: number,
];

/** The columns of a branch `b`. */
export const branchColumns: string =
  'b.id, b.name, b.parent_id, b.parent_seq, b.depth, b.head, b.digest, b.turn, b.epoch, b.marker, b.event_bytes, b.latest_time, b.highest_turn';

/** A branch from its columns. */
export function branchOfColumns(row: BranchColumns): BranchRow {
  const [id, name, parentId, parentSeq, depth, head, digest, turn, epoch, lastMarker, eventBytes] = row;
  const clock = { time: row[11], turn: row[12] };
  return { id, name, parentId, parentSeq, depth, head, digest, turn, epoch, lastMarker, eventBytes, clock };
}

/** The branches of these names that a session has. */
export async function findBranchRows(
  queries: Queries,
  { namespaceId, id }: SessionKey,
  names: string,
): Promise<BranchRow[]> {
  const rows = await queries.all<BranchColumns>(
    `SELECT ${branchColumns} FROM branches b WHERE b.namespace_id = $1 AND b.session_id = $2 AND b.name = ANY($3::text[])`,
    namespaceId,
    id,
    names,
  );
  return rows.map(branchOfColumns);
}

/** Structural events that are remembered, all branches together, before all are forgotten. */
const markersHeldMax = 200_000;
const branchesHeldMax = 10_000;

/**
 * The structural events of branches, as this process last read them. Events never change, so what is remembered stays
 * true for as long as the server is the same; the branch's row tells whether there are more.
 */
export class Catalogue {
  readonly heads: Heads = new Heads();
  readonly #markers = new Map<string, { readonly through: Seq; readonly markers: readonly Marker[] }>();
  #held = 0;

  /** Every structural event that leads to a branch's head: its own, and its ancestors' up to the fork points. */
  async markersOf(queries: Queries, session: SessionKey, branch: BranchRow): Promise<readonly Marker[]> {
    const place = `${session.id}/${branch.id}`;
    const known = this.#markers.get(place);
    if (known !== undefined && known.through >= branch.lastMarker)
      return known.through > branch.head ? known.markers.filter(({ seq }) => seq <= branch.head) : known.markers;
    const markers =
      known === undefined
        ? await this.#load(queries, session, branch)
        : [...known.markers, ...(await this.#loadAfter(queries, session, branch, known.through))];
    this.remember(session, branch.id, branch.lastMarker, markers);
    return markers;
  }

  /** Remembers what leads to a seq of a branch; only what is committed may be remembered. */
  remember(session: SessionKey, branchId: number, through: Seq, markers: readonly Marker[]): void {
    const place = `${session.id}/${branchId}`;
    this.#held += markers.length - (this.#markers.get(place)?.markers.length ?? 0);
    if (this.#markers.size >= branchesHeldMax || this.#held > markersHeldMax) {
      this.#markers.clear();
      this.#held = markers.length;
    }
    this.#markers.set(place, { through, markers });
  }

  /** Forgets everything: a standby that took over may lack what was read from the server before it. */
  forget(): void {
    this.heads.forget();
    this.#markers.clear();
    this.#held = 0;
  }

  /** The state at the head of a branch. */
  async stateOf(queries: Queries, session: SessionRow, branch: BranchRow): Promise<BranchState> {
    const markers = await this.markersOf(queries, session, branch);
    const { name, head, digest, epoch, turn } = branch;
    return { branch: name, history: { root: session.root, markers, head }, digest, epoch, turn };
  }

  async #load(queries: Queries, { namespaceId, id }: SessionKey, branch: BranchRow): Promise<Marker[]> {
    const rows = await queries.all<MarkerColumns>(lineMarkersSql, namespaceId, id, branch.id, branch.head);
    return rows.map(markerIn);
  }

  async #loadAfter(
    queries: Queries,
    { namespaceId, id }: SessionKey,
    branch: BranchRow,
    after: Seq,
  ): Promise<Marker[]> {
    const rows = await queries.all<MarkerColumns>(
      `SELECT $5::text, seq, type, data FROM events
       WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND marker AND seq > $4 AND seq <= $6 ORDER BY seq`,
      namespaceId,
      id,
      branch.id,
      after,
      branch.name,
      branch.head,
    );
    return rows.map(markerIn);
  }
}

type MarkerColumns = readonly [branch: string, seq: Seq, type: string, data: string];

function markerIn([branch, seq, type, data]: MarkerColumns): Marker {
  return storedMarker({ branch, seq, type, data });
}

/** The structural events of a branch and its ancestors, each ancestor up to where the next one was forked. */
const lineMarkersSql = `
WITH RECURSIVE line (id, name, parent_id, parent_seq, through) AS (
  SELECT id, name, parent_id, parent_seq, $4::bigint FROM branches WHERE namespace_id = $1 AND session_id = $2 AND id = $3
  UNION ALL
  SELECT b.id, b.name, b.parent_id, b.parent_seq, line.parent_seq FROM line
  JOIN branches b ON b.namespace_id = $1 AND b.session_id = $2 AND b.id = line.parent_id
)
SELECT line.name, e.seq, e.type, e.data FROM line
JOIN events e ON e.namespace_id = $1 AND e.session_id = $2 AND e.branch_id = line.id AND e.marker AND e.seq <= line.through
ORDER BY e.seq`;
