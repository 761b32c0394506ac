import type { Clock } from '../../core/event/clock.ts';
import { limits } from '../../core/limits.ts';
import { beginning, type Digest, type Point, type Seq } from '../../core/point.ts';
import type { BranchState } from '../../core/store/append.ts';
import type { BranchRecord, SessionRef } from '../../core/store/event-store.ts';
import { type Marker, storedMarker } from '../../core/view/marker.ts';
import { lastOf, viewAt } from '../../core/view/view.ts';
import type { Database } from './database.ts';
import { checkVersion, type Migration, schemaVersion } from './migrate.ts';
import { lastClock } from './operations/clocks.ts';
import { RecentKeys } from './recent-keys.ts';

/** A session as stored, without what changes. */
export interface SessionRow {
  readonly id: number;
  readonly namespaceId: number;
  readonly name: string;
  readonly genesis: Digest;
  readonly root: string;
}

/** A branch as stored, without what changes. */
export interface BranchRow {
  readonly id: number;
  readonly name: string;
  readonly parentId: number | null;
  readonly parentSeq: Seq | null;
}

/** The bytes of payload a branch has stored, erased ones included. */
export interface BranchBytes {
  readonly events: number;
  /** Of the parts its appends brought to the session. */
  readonly parts: number;
}

/** Entries of each kind that are remembered before all are forgotten. */
const entriesMax = 10_000;
const markersHeldMax = 200_000;
const recordsMax = 100;

/**
 * What this connection knows of sessions and branches. It is true as long as no other connection has committed, which
 * `PRAGMA data_version` tells; `refresh` is called at the beginning of every transaction and every read.
 */
export class Catalogue {
  readonly #database: Database;
  readonly #migrations: readonly Migration[];
  readonly #sessions = new Map<string, SessionRow>();
  readonly #branches = new Map<number, Map<string, BranchRow>>();
  readonly #states = new Map<number, BranchState>();
  readonly #records = new Map<number, { readonly state: BranchState; readonly record: BranchRecord }>();
  readonly #lastIds = new Map<number, string>();
  readonly #bytes = new Map<number, BranchBytes>();
  readonly #clocks = new Map<number, Clock>();
  readonly recentKeys: RecentKeys = new RecentKeys();
  #dataVersion = -1;
  #markersHeld = 0;
  #lastTouched = -1;

  constructor(database: Database, migrations: readonly Migration[]) {
    this.#database = database;
    this.#migrations = migrations;
  }

  /** Forgets everything if another connection has written since; gives whether it had. */
  refresh(): boolean {
    const [dataVersion] = this.#database.get<[number]>('PRAGMA data_version') as [number];
    if (dataVersion === this.#dataVersion) return false;
    // Only another connection can have changed the schema, so this is the time to look.
    checkVersion(schemaVersion(this.#database), this.#migrations);
    this.forget();
    this.#dataVersion = dataVersion;
    return true;
  }

  /** Forgets everything: after a rollback, or when a session or branch went away. */
  forget(): void {
    this.#sessions.clear();
    this.#branches.clear();
    this.#states.clear();
    this.#records.clear();
    this.#lastIds.clear();
    this.#bytes.clear();
    this.#clocks.clear();
    this.recentKeys.clear();
    this.#markersHeld = 0;
    this.#lastTouched = -1;
  }

  session({ namespace, session }: SessionRef): SessionRow | undefined {
    // Ids hold no control characters, so a line break cannot be part of either.
    const place = `${namespace}\n${session}`;
    const known = this.#sessions.get(place);
    if (known !== undefined) return known;
    const row = this.#database.get<[number, number, string, Digest, string]>(
      `SELECT s.id, s.namespace_id, s.name, s.genesis, s.root FROM namespaces n
       JOIN sessions s ON s.namespace_id = n.id AND s.name = ? WHERE n.name = ?`,
      session,
      namespace,
    );
    if (row === undefined) return undefined;
    const [id, namespaceId, name, genesis, root] = row;
    const found = { id, namespaceId, name, genesis, root };
    if (this.#sessions.size >= entriesMax) this.#sessions.clear();
    this.#sessions.set(place, found);
    return found;
  }

  branch(session: SessionRow, name: string): BranchRow | undefined {
    const known = this.#branches.get(session.id)?.get(name);
    if (known !== undefined) return known;
    const row = this.#database.get<[number, string, number | null, Seq | null]>(
      'SELECT id, name, parent_id, parent_seq FROM branches WHERE session_id = ? AND name = ?',
      session.id,
      name,
    );
    if (row === undefined) return undefined;
    const [id, , parentId, parentSeq] = row;
    return this.addBranch(session, { id, name, parentId, parentSeq });
  }

  addBranch(session: SessionRow, branch: BranchRow): BranchRow {
    let known = this.#branches.get(session.id);
    if (known === undefined || known.size >= entriesMax) {
      if (this.#branches.size >= entriesMax) this.#branches.clear();
      known = new Map();
      this.#branches.set(session.id, known);
    }
    known.set(branch.name, branch);
    return branch;
  }

  /** The state at the head of a branch. */
  stateOf(session: SessionRow, branch: BranchRow): BranchState {
    const known = this.#states.get(branch.id);
    if (known !== undefined) return known;
    const state = this.#load(session, branch);
    this.setState(branch, state);
    return state;
  }

  setState(branch: BranchRow, state: BranchState): void {
    const before = this.#states.get(branch.id)?.history.markers.length ?? 0;
    this.#markersHeld += state.history.markers.length - before;
    if (this.#states.size >= entriesMax || this.#markersHeld > markersHeldMax) {
      this.#states.clear();
      this.#markersHeld = state.history.markers.length;
    }
    this.#states.set(branch.id, state);
  }

  /** What is told of a branch, made anew only when its state is another one. */
  recordOf(
    branch: BranchRow,
    state: BranchState,
    make: (before: BranchRecord | undefined) => BranchRecord,
  ): BranchRecord {
    const known = this.#records.get(branch.id);
    if (known?.state === state) return known.record;
    const record = make(known?.record);
    if (this.#records.size >= recordsMax) this.#records.clear();
    this.#records.set(branch.id, { state, record });
    return record;
  }

  /** The state at a seq that the branch itself stores; undefined if it does not store it. */
  stateAt(session: SessionRow, { branch: name, seq }: Point): BranchState | undefined {
    const branch = this.branch(session, name);
    if (branch === undefined) return undefined;
    const { history } = this.stateOf(session, branch);
    const first = branch.parentSeq === null ? beginning : branch.parentSeq + 1;
    if (seq < first || seq > history.head) return undefined;
    const row = this.#database.get<LastRow>(`${lastColumns} WHERE branch_id = ? AND seq = ?`, branch.id, seq);
    return this.#stateFrom(
      session,
      branch,
      row,
      history.markers.filter((marker) => marker.seq <= seq),
    );
  }

  turnAt(session: SessionRow, name: string, seq: Seq): number {
    const branch = this.branch(session, name);
    const row = this.#database.get<[number]>(
      'SELECT turn FROM events WHERE branch_id = ? AND seq = ?',
      branch?.id ?? 0,
      seq,
    );
    return row?.[0] ?? 0;
  }

  /** The greatest event id of a session; writers mint rising ids, so nearly every new id is known to be new by it. */
  lastId(session: SessionRow): string {
    let last = this.#lastIds.get(session.id);
    if (last === undefined) {
      const row = this.#database.get<[string]>(
        'SELECT id FROM events WHERE session_id = ? ORDER BY id DESC LIMIT 1',
        session.id,
      );
      last = row?.[0] ?? '';
      if (this.#lastIds.size >= entriesMax) this.#lastIds.clear();
      this.#lastIds.set(session.id, last);
    }
    return last;
  }

  setLastId(session: SessionRow, id: string): void {
    this.#lastIds.set(session.id, id);
  }

  bytesOf(branch: BranchRow): BranchBytes {
    const known = this.#bytes.get(branch.id);
    if (known !== undefined) return known;
    const sql = 'SELECT branch_bytes, part_bytes FROM events WHERE branch_id = ? ORDER BY seq DESC LIMIT 1';
    const [events, parts] = this.#database.get<[number, number]>(sql, branch.id) ?? [0, 0];
    return { events, parts };
  }

  setBytes(branch: BranchRow, bytes: BranchBytes): void {
    if (this.#bytes.size >= entriesMax) this.#bytes.clear();
    this.#bytes.set(branch.id, bytes);
  }

  /** How far the clocks of a branch have come. */
  clockOf(branch: BranchRow): Clock {
    const known = this.#clocks.get(branch.id);
    if (known !== undefined) return known;
    return lastClock(this.#database, branch.id);
  }

  setClock(branch: BranchRow, clock: Clock): void {
    if (this.#clocks.size >= entriesMax) this.#clocks.clear();
    this.#clocks.set(branch.id, clock);
  }

  /** Makes the session the one that was appended to last; writes only if it was not. */
  touch(session: SessionRow): void {
    if (this.#lastTouched === session.id) return;
    const [last] = this.#database.get<[number]>('SELECT id FROM sessions ORDER BY touched DESC LIMIT 1') as [number];
    if (last !== session.id) {
      this.#database.run(
        'UPDATE sessions SET touched = (SELECT max(touched) + 1 FROM sessions) WHERE id = ?',
        session.id,
      );
    }
    this.#lastTouched = session.id;
  }

  #load(session: SessionRow, branch: BranchRow): BranchState {
    const row = this.#database.get<LastRow>(`${lastColumns} WHERE branch_id = ? ORDER BY seq DESC LIMIT 1`, branch.id);
    return this.#stateFrom(session, branch, row, this.#markersOf(branch));
  }

  #stateFrom(
    session: SessionRow,
    branch: BranchRow,
    last: LastRow | undefined,
    markers: readonly Marker[],
  ): BranchState {
    const [head, digest, lastTurn, isMarker] = last ?? [beginning, session.genesis, 0, null];
    const history = { root: session.root, markers, head };
    const rewind = markers.findLast((marker) => marker.kind === 'rewound' || marker.kind === 'rewoundToTurn');
    const turn = isMarker === null ? lastTurn : this.#lastTurn(session, history);
    return { branch: branch.name, history, digest, epoch: rewind?.seq ?? beginning, turn };
  }

  #lastTurn(session: SessionRow, history: BranchState['history']): number {
    const last = lastOf(viewAt(history, history.head));
    return last === undefined ? 0 : (last.carriedTurn ?? this.turnAt(session, last.branch, last.seq));
  }

  /** Every structural event that leads to a branch's head: its own, and its ancestors' up to the fork points. */
  #markersOf(branch: BranchRow): Marker[] {
    const line = this.#database.all<[number, string, Seq | null]>(lineageSql, branch.id);
    const markers: Marker[] = [];
    for (const [id, name, through] of line.reverse()) {
      const rows = this.#database.all<[Seq, string, string]>(markersSql, id, through ?? Number.MAX_SAFE_INTEGER);
      for (const [seq, type, data] of rows) markers.push(storedMarker({ branch: name, seq, type, data }));
    }
    return markers;
  }
}

type LastRow = readonly [Seq, Digest, number, number | null];
const lastColumns = 'SELECT seq, digest, turn, marker FROM events';

/** The structural events a branch stores: found through their own index, however long the branch is. */
export const markersSql =
  'SELECT seq, type, data FROM events WHERE branch_id = ? AND marker = 1 AND seq <= ? ORDER BY seq';

/** A branch and its ancestors, nearest first, each with the seq up to which it is read. */
const lineageSql = `
WITH RECURSIVE line (id, name, parent_id, parent_seq, through, depth) AS (
  SELECT id, name, parent_id, parent_seq, NULL, 0 FROM branches WHERE id = ?
  UNION ALL
  SELECT b.id, b.name, b.parent_id, b.parent_seq, line.parent_seq, depth + 1 FROM line JOIN branches b ON b.id = line.parent_id
  WHERE depth <= ${limits.lineageDepthMax}
)
SELECT id, name, through FROM line ORDER BY depth`;
