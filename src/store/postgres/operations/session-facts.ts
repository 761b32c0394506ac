import { isStructural } from '../../../core/event/families/structural.ts';
import type { PartLookup, PartPlan, StoredPart } from '../../../core/parts/part-plan.ts';
import type { PartInput } from '../../../core/parts/parts.ts';
import { beginning, type Digest, type Point, type Seq } from '../../../core/point.ts';
import type { EventPlace, WrittenRow } from '../../../core/store/append.ts';
import type { AppendSource, KeyedSeq } from '../../../core/store/append-judgement.ts';
import type { UnchangedCondition } from '../../../core/store/append-request.ts';
import { type BranchState, epochOf } from '../../../core/store/branch-state.ts';
import type { StoredEvent } from '../../../core/store/event-store.ts';
import { rawPieces } from '../../../core/view/segment.ts';
import { type History, lastOf, viewAt } from '../../../core/view/view.ts';
import { Lookup } from '../appending/lookup.ts';
import { arrayLiteral } from '../array-literal.ts';
import { type BranchRow, findBranchRows } from '../branch-row.ts';
import { type Catalogue } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { type SessionRow } from '../session-row.ts';
import { eventAtSql } from './event-at.ts';
import { findStored } from './hold-parts.ts';
import { findChange } from './keys.ts';
import { findEvents, findPlaces } from './locate.ts';
import { findHeld, findParts } from './parts.ts';

/**
 * The facts that a transaction has looked up about one session it has locked, and the events it is going to write. Appends
 * that share the transaction see each other through it.
 */
export class SessionFacts {
  readonly session: SessionRow;
  readonly branches: Lookup<string, BranchRow>;
  readonly states: Lookup<string, BranchState>;
  readonly events: Lookup<string, StoredEvent>;
  readonly places: Lookup<string, EventPlace>;
  readonly held: Lookup<Digest, { readonly isWhole: boolean }>;
  readonly parts: Lookup<Digest, PartInput>;
  readonly stored: Lookup<Digest, StoredPart>;
  readonly #statesAt: Lookup<string, BranchState>;
  readonly #turns: Lookup<string, number>;
  readonly #changes: Lookup<string, KeyedSeq>;
  readonly #catalogue: Catalogue;
  readonly #queries: Queries;
  readonly #newEvents = new Map<string, WrittenRow>();
  #branchCount: number;
  /** The keys of the events that are going to be written. */
  readonly #newKeys: { readonly branch: string; readonly key: string; readonly seq: Seq }[] = [];

  constructor(queries: Queries, catalogue: Catalogue, session: SessionRow) {
    this.session = session;
    this.#catalogue = catalogue;
    this.#queries = queries;
    this.#branchCount = session.branches;
    this.branches = new Lookup(async (name) => (await findBranchRows(queries, session, arrayLiteral([name])))[0]);
    this.states = new Lookup((name) => this.#loadState(name));
    this.events = new Lookup(async (id) => (await findEvents(queries, session, [id])).get(id));
    this.places = new Lookup(async (id) => (await findPlaces(queries, session, [id])).get(id));
    this.held = new Lookup(async (digest) => (await findHeld(queries, session, [digest])).get(digest));
    this.parts = new Lookup(async (digest) => (await findParts(queries, session, [digest])).get(digest));
    this.stored = new Lookup(async (digest) => (await findStored(queries, session, [digest])).get(digest));
    this.#statesAt = new Lookup((key) => this.#loadStateAt(pointIn(key)));
    this.#turns = new Lookup((key) => this.#loadTurn(pointIn(key)));
    this.#changes = new Lookup((text) => this.#loadChange(JSON.parse(text) as ChangeQuestion));
  }

  /** The number of branches that the session has ever had, new ones included. */
  get branchCount(): number {
    return this.#branchCount;
  }

  /** Returns the number for a new branch. */
  takeBranchId(): number {
    this.#branchCount++;
    return this.#branchCount;
  }

  /** Returns the lookups that judging an append needs. */
  source(): AppendSource {
    return {
      stateOf: (name) => this.states.get(name),
      stateAt: (point) => this.#stateAt(point),
      known: (ids) => found(ids, this.events),
      causes: (ids) => found(ids, this.places),
      turnAt: (branch, seq) => this.#turns.get(pointKey({ branch, seq })) ?? 0,
      firstChange: (history, condition) => this.#firstChange(history, condition),
      part: (digest) => this.parts.get(digest),
      notHeld: (digests) => digests.filter((digest) => this.held.get(digest)?.isWhole !== true),
    };
  }

  /** Returns the lookups that planning the parts of an append needs. */
  partLookup(): PartLookup {
    return {
      isHeld: (digest) => this.held.get(digest) !== undefined,
      stored: (digest) => this.stored.get(digest),
      part: (digest) => this.parts.get(digest),
    };
  }

  /** Notes the parts that an append is going to bring, so that the appends after it see them. */
  addParts(plans: readonly PartPlan[]): void {
    for (const { part } of plans) {
      this.held.set(part.digest, { isWhole: part.damaged !== true });
      this.parts.set(part.digest, { ...part, refs: [...part.refs] });
    }
  }

  /** Notes the events that are going to be written. */
  add(events: readonly WrittenRow[], after: BranchState): void {
    for (const planned of events) {
      const { keys, salt: _salt, ...event } = planned;
      this.events.set(event.id, { ...event, erased: false });
      this.places.set(event.id, event);
      this.#turns.set(pointKey(event), event.turn);
      this.#newEvents.set(pointKey(event), planned);
      for (const key of keys) this.#newKeys.push({ branch: event.branch, key, seq: event.seq });
    }
    this.states.set(after.branch, after);
  }

  async #loadState(name: string): Promise<BranchState | undefined> {
    const branch = await this.branches.load(name);
    return branch === undefined ? undefined : await this.#catalogue.stateOf(this.#queries, this.session, branch);
  }

  /** Does not remember a seq beyond the head as missing: an append of the same transaction may still write it. */
  #stateAt(point: Point): BranchState | undefined {
    const state = this.states.get(point.branch);
    if (state === undefined || point.seq > state.history.head) return undefined;
    return point.seq === state.history.head && this.#stores(point) ? state : this.#statesAt.get(pointKey(point));
  }

  #stores({ branch, seq }: Point): boolean {
    const parentSeq = this.branches.get(branch)?.parentSeq ?? null;
    return seq >= (parentSeq === null ? beginning : parentSeq + 1);
  }

  async #loadStateAt({ branch: name, seq }: Point): Promise<BranchState | undefined> {
    const state = await this.states.load(name);
    const branch = await this.branches.load(name);
    if (state === undefined || branch === undefined) return undefined;
    if (!this.#stores({ branch: name, seq })) return undefined;
    const { session } = this;
    const row = await this.#lastAt(branch.id, { branch: name, seq });
    const markers = state.history.markers.filter((marker) => marker.seq <= seq);
    const history = { root: session.root, markers, head: seq };
    const [digest, ownTurn, isMarker] = row ?? [session.genesis, 0, false];
    const turn = isMarker ? await this.#lastTurn(history) : ownTurn;
    return { branch: name, history, digest, epoch: epochOf(markers), turn };
  }

  async #lastAt(branchId: number, point: Point): Promise<readonly [Digest, number, boolean] | undefined> {
    const planned = this.#newEvents.get(pointKey(point));
    if (planned !== undefined) return [planned.digest, planned.turn, isStructural(planned.type)];
    return await this.#queries.get<[Digest, number, boolean]>(
      `SELECT digest, turn, marker FROM ${eventAtSql}`,
      this.session.namespaceId,
      this.session.id,
      branchId,
      point.seq,
    );
  }

  async #lastTurn(history: History): Promise<number> {
    const last = lastOf(viewAt(history, history.head));
    return last === undefined ? 0 : (last.carriedTurn ?? (await this.#turns.load(pointKey(last))) ?? 0);
  }

  async #loadTurn({ branch: name, seq }: Point): Promise<number | undefined> {
    const branch = await this.branches.load(name);
    const row = await this.#queries.get<[number]>(
      `SELECT turn FROM ${eventAtSql}`,
      this.session.namespaceId,
      this.session.id,
      branch?.id ?? 0,
      seq,
    );
    return row?.[0];
  }

  #firstChange(history: History, { since, keys, prefixes }: UnchangedCondition): KeyedSeq | undefined {
    const named = new Set(keys);
    for (const { branch, after, through } of rawPieces(history, history.head)) {
      if (through <= since) continue;
      const isIn = (seq: Seq): boolean => seq > after && seq > since && seq <= through;
      const changed = this.#newKeys.find(
        (held) =>
          held.branch === branch &&
          isIn(held.seq) &&
          (named.has(held.key) || prefixes.some((prefix) => held.key.startsWith(prefix))),
      );
      if (changed !== undefined) return changed;
      const question: ChangeQuestion = { branch, after: Math.max(after, since), through, keys, prefixes };
      const stored = this.#changes.get(JSON.stringify(question));
      if (stored !== undefined) return stored;
    }
    return undefined;
  }

  async #loadChange({ branch: name, after, through, keys, prefixes }: ChangeQuestion): Promise<KeyedSeq | undefined> {
    const branch = await this.branches.load(name);
    if (branch === undefined) return undefined;
    const range = { branchId: branch.id, after, through };
    return await findChange(this.#queries, this.session, range, { keys, prefixes });
  }
}

interface ChangeQuestion {
  readonly branch: string;
  readonly after: number;
  readonly through: number;
  readonly keys: readonly string[];
  readonly prefixes: readonly string[];
}

function found<Value>(ids: readonly string[], lookup: Lookup<string, Value>): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const id of ids) {
    const value = lookup.get(id);
    if (value !== undefined) values.set(id, value);
  }
  return values;
}

// Names have no control characters, so a line break cannot be part of one.
function pointKey({ branch, seq }: Point): string {
  return `${seq}\n${branch}`;
}

function pointIn(key: string): Point {
  const end = key.indexOf('\n');
  return { seq: Number(key.slice(0, end)) as Seq, branch: key.slice(end + 1) };
}
