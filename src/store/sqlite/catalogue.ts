import { BoundedMap } from '../../core/bounded-map.ts';
import type { Clock } from '../../core/event/clock.ts';
import { limits } from '../../core/limits.ts';
import { beginning, type Digest, type Point, type Seq } from '../../core/point.ts';
import { type BranchState, epochOf, rewindType } from '../../core/store/branch-state.ts';
import type { BranchHead, BranchRecord, SessionRef } from '../../core/store/event-store.ts';
import { type Marker, storedMarker } from '../../core/view/marker.ts';
import { lastOf, viewAt } from '../../core/view/view.ts';
import type { Database } from './database.ts';
import { checkVersion, type Migration, schemaVersion } from './migrate.ts';
import { lastClock } from './operations/clocks.ts';
import { RecentKeys } from './recent-keys.ts';

/** A session as stored, without the columns that change. */
export interface SessionRow {
  readonly id: number;
  readonly namespaceId: number;
  readonly name: string;
  readonly genesis: Digest;
  readonly root: string;
}

/** A branch as stored, without the columns that change. */
export interface BranchRow {
  readonly id: number;
  readonly name: string;
  readonly parentId: number | null;
  readonly parentSeq: Seq | null;
}

/** The payload bytes that a branch has stored, erased ones included. */
export interface BranchBytes {
  readonly events: number;
  /** Bytes of the parts that its appends brought to the session. */
  readonly parts: number;
}

/** Entries of each kind in the cache at most. */
const entriesMax = 10_000;
const markersHeldMax = 200_000;
const recordsMax = 100;

/**
 * A cache of sessions and branches for one connection. It is valid as long as no other connection has committed, which
 * `PRAGMA data_version` shows; every transaction and every read starts with `refresh`.
 */
export class Catalogue {
  readonly #database: Database;
  readonly #migrations: readonly Migration[];
  readonly #sessions = new BoundedMap<string, SessionRow>(entriesMax);
  readonly #branches = new BoundedMap<number, Map<string, BranchRow>>(entriesMax);
  readonly #states = new Map<number, BranchState>();
  readonly #records = new BoundedMap<number, { readonly state: BranchState; readonly record: BranchRecord }>(
    recordsMax,
  );
  readonly #lastIds = new BoundedMap<number, string>(entriesMax);
  readonly #bytes = new BoundedMap<number, BranchBytes>(entriesMax);
  readonly #clocks = new BoundedMap<number, Clock>(entriesMax);
  readonly recentKeys: RecentKeys = new RecentKeys();
  #dataVersion = -1;
  #markersHeld = 0;
  #lastTouched = -1;

  constructor(database: Database, migrations: readonly Migration[]) {
    this.#database = database;
    this.#migrations = migrations;
  }

  /** Forgets everything if a different connection has written since. */
  refresh(): void {
    const [dataVersion] = this.#database.one<[number]>('PRAGMA data_version');
    if (dataVersion === this.#dataVersion) return;
    // Only a different connection can have changed the schema, so this is the time to check.
    checkVersion(schemaVersion(this.#database), this.#migrations);
    this.forget();
    this.#dataVersion = dataVersion;
  }

  /** Forgets everything: after a rollback, or after a session or branch was removed. */
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
    // Ids have no control characters, so a line break cannot be part of either.
    const name = `${namespace}\n${session}`;
    const known = this.#sessions.get(name);
    if (known !== undefined) return known;
    const row = this.#database.get<[number, number, Digest, string]>(
      `SELECT s.id, s.namespace_id, s.genesis, s.root FROM namespaces n
       JOIN sessions s ON s.namespace_id = n.id AND s.name = ? WHERE n.name = ?`,
      session,
      namespace,
    );
    if (row === undefined) return undefined;
    const [id, namespaceId, genesis, root] = row;
    const found = { id, namespaceId, name: session, genesis, root };
    this.#sessions.set(name, found);
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
    if (known === undefined) {
      known = new BoundedMap(entriesMax);
      this.#branches.set(session.id, known);
    }
    known.set(branch.name, branch);
    return branch;
  }

  /** Returns the state at the head of a branch. */
  stateOf(session: SessionRow, branch: BranchRow): BranchState {
    const known = this.#states.get(branch.id);
    if (known !== undefined) return known;
    const state = this.#load(session, branch);
    this.setState(branch, state);
    return state;
  }

  /** Returns where a branch ends. Reads no markers: only the last event and the last rewind. */
  headOf(session: SessionRow, branch: BranchRow): Pick<BranchHead, 'head' | 'digest' | 'epoch'> {
    const known = this.#states.get(branch.id);
    if (known !== undefined) return { head: known.history.head, digest: known.digest, epoch: known.epoch };
    const [head, digest] = this.#lastRow(branch) ?? [beginning, session.genesis];
    return { head, digest, epoch: this.#lastRewind(branch) };
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

  /** Returns the record of a branch; makes a new one only if the state of the branch has changed. */
  recordOf(
    branch: BranchRow,
    state: BranchState,
    make: (before: BranchRecord | undefined) => BranchRecord,
  ): BranchRecord {
    const known = this.#records.get(branch.id);
    if (known?.state === state) return known.record;
    const record = make(known?.record);
    this.#records.set(branch.id, { state, record });
    return record;
  }

  /** Returns the state at a seq that the branch itself stores; undefined if it does not store it. */
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

  /** Returns the greatest event id of a session. Writers mint rising ids, so comparing shows that nearly every new id is new. */
  lastId(session: SessionRow): string {
    let last = this.#lastIds.get(session.id);
    if (last === undefined) {
      const row = this.#database.get<[string]>(
        'SELECT id FROM events WHERE session_id = ? ORDER BY id DESC LIMIT 1',
        session.id,
      );
      last = row?.[0] ?? '';
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
    this.#bytes.set(branch.id, bytes);
  }

  /** Returns the clocks at the head of a branch. */
  clockOf(branch: BranchRow): Clock {
    const known = this.#clocks.get(branch.id);
    if (known !== undefined) return known;
    return lastClock(this.#database, branch.id);
  }

  setClock(branch: BranchRow, clock: Clock): void {
    this.#clocks.set(branch.id, clock);
  }

  /** Marks the session as the one last appended to; writes only if it was not. */
  touch(session: SessionRow): void {
    if (this.#lastTouched === session.id) return;
    const [last] = this.#database.one<[number]>('SELECT id FROM sessions ORDER BY touched DESC LIMIT 1');
    if (last !== session.id) {
      this.#database.run(
        'UPDATE sessions SET touched = (SELECT max(touched) + 1 FROM sessions) WHERE id = ?',
        session.id,
      );
    }
    this.#lastTouched = session.id;
  }

  #load(session: SessionRow, branch: BranchRow): BranchState {
    return this.#stateFrom(session, branch, this.#lastRow(branch), this.#markersOf(branch));
  }

  #lastRow(branch: BranchRow): LastRow | undefined {
    return this.#database.get<LastRow>(`${lastColumns} WHERE branch_id = ? ORDER BY seq DESC LIMIT 1`, branch.id);
  }

  #lastRewind(branch: BranchRow): Seq {
    for (const [id, , through] of this.#database.all<LineageRow>(lineageSql, branch.id)) {
      const row = this.#database.get<[Seq]>(lastRewindSql, id, rewindType, through ?? Number.MAX_SAFE_INTEGER);
      if (row !== undefined) return row[0];
    }
    return beginning;
  }

  #stateFrom(
    session: SessionRow,
    branch: BranchRow,
    last: LastRow | undefined,
    markers: readonly Marker[],
  ): BranchState {
    const [head, digest, lastTurn, isMarker] = last ?? [beginning, session.genesis, 0, null];
    const history = { root: session.root, markers, head };
    const turn = isMarker === null ? lastTurn : this.#lastTurn(session, history);
    return { branch: branch.name, history, digest, epoch: epochOf(markers), turn };
  }

  #lastTurn(session: SessionRow, history: BranchState['history']): number {
    const last = lastOf(viewAt(history, history.head));
    return last === undefined ? 0 : (last.carriedTurn ?? this.turnAt(session, last.branch, last.seq));
  }

  /** Returns every marker that leads to a branch's head: its own, and its ancestors' up to the fork points. */
  #markersOf(branch: BranchRow): Marker[] {
    const line = this.#database.all<LineageRow>(lineageSql, branch.id);
    const markers: Marker[] = [];
    for (const [id, name, through] of line.reverse()) {
      const rows = this.#database.all<[Seq, string, string]>(markersSql, id, through ?? Number.MAX_SAFE_INTEGER);
      for (const [seq, type, data] of rows) markers.push(storedMarker({ branch: name, seq, type, data }));
    }
    return markers;
  }
}

type LineageRow = readonly [id: number, name: string, through: Seq | null];
type LastRow = readonly [Seq, Digest, number, number | null];
const lastColumns = 'SELECT seq, digest, turn, marker FROM events';

/** The markers a branch stores, found through their own index, however long the branch is. */
export const markersSql =
  'SELECT seq, type, data FROM events WHERE branch_id = ? AND marker = 1 AND seq <= ? ORDER BY seq';
const lastRewindSql =
  "SELECT seq FROM events WHERE branch_id = ? AND marker = 1 AND type = ? AND seq <= ? AND json_extract(data, '$.only') IS NULL ORDER BY seq DESC LIMIT 1";

/** A branch and its ancestors, nearest first, each with the seq up to which it is read. */
const lineageSql = `
WITH RECURSIVE line (id, name, parent_id, parent_seq, through, depth) AS (
  SELECT id, name, parent_id, parent_seq, NULL, 0 FROM branches WHERE id = ?
  UNION ALL
  SELECT b.id, b.name, b.parent_id, b.parent_seq, line.parent_seq, depth + 1 FROM line JOIN branches b ON b.id = line.parent_id
  WHERE depth <= ${limits.lineageDepthMax}
)
SELECT id, name, through FROM line ORDER BY depth`;
