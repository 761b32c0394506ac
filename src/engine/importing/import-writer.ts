import { hasCode, messageOf, RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { stringAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { type Point, seq } from '../../core/point.ts';
import { mainBranch } from '../../core/ref.ts';
import { forkedDraft, freeName } from '../changing/fork.ts';
import { write } from '../changing/write.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { keepSnapshots } from '../history/keep-snapshots.ts';
import { digestAt, placeAt, pointOf } from '../history/place.ts';
import { readPoints } from '../history/stored-events.ts';
import { noTail, type StoredTail, storedTail } from './import-standing.ts';
import type { PreparedUnit } from './unit-events.ts';

/** A branch that an import writes to. */
interface Line {
  readonly name: string;
  /** The last seq of the branch. */
  head: number;
  /** The seq that this reading of the source has reached. */
  reached: number;
  /** Where the units that earlier imports stored end. */
  tail: StoredTail;
  /** The branch on which the source goes on since it differs from this one. */
  successor?: Line;
  turn: number;
}

/** Where a unit stands in the log. */
interface Standing {
  line: Line;
  seq: number;
  turn: number;
  /** The nearest unit of the talk: itself, if left out, or the one it follows. */
  readonly anchor?: Standing;
  /** The first prompt and the first response after it. */
  prompt?: string;
  response?: string;
}

interface Pending {
  readonly unit: PreparedUnit;
  readonly drafts: readonly EventDraft[];
  readonly standing: Standing;
}

/** Called when the meaning of a unit could not be stored, so that the unit was kept as it is. */
export type OnKept = (unit: PreparedUnit, why: string) => void;

/** The reason of a branch that is a fork in its source. The units of such branches are parts of one file. */
export const forkReason = 'fork in the imported source';

const differsReason = 'the imported source differs from here on';

const goneOnReason = 'the imported source has gone on';

// Larger batches take more memory, because their events live through more collections of garbage, and no less time.
const batchEventsMax = 1_000;
const batchSizeMax = 1_048_576;

/** Appends units to their branches, in batches, and forks where the source does. */
export class ImportWriter {
  readonly #engine: Engine;
  readonly #session: string;
  readonly #onKept: OnKept;
  readonly #lines = new Map<string, Line>();
  readonly #standings = new Map<string, Standing>();
  /** The beginning of the source, before its first message. */
  readonly #beginning: Standing;
  #current: Line;
  #file = '';
  #batch: Pending[] = [];
  #batchLine: Line;
  #batchSize = 0;
  #batchEvents = 0;
  /** The events that were appended. */
  events = 0;
  hasBranched = false;

  constructor(
    engine: Engine,
    session: string,
    main: { readonly head: number; readonly begin: number; readonly tail: StoredTail },
    onKept: OnKept,
  ) {
    this.#engine = engine;
    this.#session = session;
    this.#onKept = onKept;
    const { head, begin, tail } = main;
    this.#current = { name: mainBranch, head, tail, reached: begin, turn: 0 };
    this.#batchLine = this.#current;
    this.#lines.set(mainBranch, this.#current);
    this.#beginning = { line: this.#current, seq: 0, turn: 0 };
  }

  /** The branches that were written to or read. */
  get branches(): readonly string[] {
    return [...this.#lines.keys()];
  }

  /** Tells whether the log holds what the end of the source settles. */
  get hasEnded(): boolean {
    return this.#current.tail.ends.length > 0;
  }

  /** Tells whether a unit of that id was read. */
  stands(id: string): boolean {
    return this.#standings.has(id);
  }

  /** Notes a unit that the log holds already: its last event is at this point. */
  async known(unit: PreparedUnit, point: Point): Promise<void> {
    this.#enter(unit);
    let line = this.#lines.get(point.branch);
    if (line === undefined) {
      const { seq: head } = await placeAt(this.#engine, this.#session, point.branch, { kind: 'head' });
      const turn = this.#standings.get(unit.meaning.parent ?? '')?.turn ?? this.#current.turn;
      const tail = await storedTail(this.#engine, this.#session, point.branch);
      line = { name: point.branch, head, reached: point.seq, tail, turn };
      this.#lines.set(point.branch, line);
      await this.#follow(line);
    }
    line.turn = this.#rewoundTo(unit)?.turn ?? line.turn;
    this.#turn(line, unit);
    line.reached = Math.max(line.reached, point.seq);
    // A line that is still cut off stands.
    if (line.tail.cut.includes(point.seq))
      line.tail = { ...line.tail, cut: line.tail.cut.filter((at) => at !== point.seq) };
    this.#current = line;
    this.#begin(unit);
    const standing = this.#stand(unit, line, point.seq);
    const drafts = [...unit.settled, ...unit.drafts];
    this.#settle({ unit, drafts, standing }, point.seq - drafts.length);
  }

  /** Notes which branch the source left for this one, if it differed there. */
  async #follow(line: Line): Promise<void> {
    const records = await this.#engine.store.branches(sessionRef(this.#engine, this.#session));
    const parent = records.find(({ branch }) => branch === line.name)?.parent;
    if (parent === undefined) return;
    const [forked] = await readPoints(this.#engine, this.#session, [{ branch: line.name, seq: seq(parent.seq + 1) }]);
    const from = this.#lines.get(parent.branch);
    if (from !== undefined && stringAt(forked?.data, 'reason') === differsReason) from.successor = line;
  }

  /** A new file goes on at `main`, unless its units say what they follow. */
  #enter({ file }: PreparedUnit): void {
    if (file !== this.#file) this.#current = this.#lines.get(mainBranch) ?? this.#current;
    this.#file = file;
  }

  /** Appends a unit; it may wait in a batch until {@link flush}. */
  async add(unit: PreparedUnit): Promise<void> {
    this.#enter(unit);
    const parent = unit.meaning.parent === undefined ? undefined : this.#standings.get(unit.meaning.parent);
    let line = parent?.line ?? this.#current;
    const isFork = this.#begin(unit);
    if (isFork && parent !== undefined) {
      await this.#settleHere(unit);
      const { line: from, seq: at, turn } = parent.anchor ?? parent;
      return this.#fork(unit, from, { seq: at, turn, reason: forkReason });
    }
    while (line.successor !== undefined) line = line.successor;
    if (line.reached < line.tail.stored) {
      // The log holds units that this reading did not come to: the source differs from here on.
      if (line === this.#current) await this.flush();
      else await this.#settleHere(unit);
      return this.#fork(unit, line, { seq: line.reached, turn: line.turn, reason: differsReason });
    }
    const isElsewhere = line !== this.#current;
    if (isElsewhere) await this.#settleHere(unit);
    if (line !== this.#batchLine || unit.meaning.rewindTo !== undefined) await this.flush();
    const marks = [...this.#goneOn(unit, line), ...this.#rewound(unit, line)];
    line = this.#current = this.#batchLine = line;
    this.#turn(line, unit);
    this.#push(unit, line, isElsewhere ? marks : [...marks, ...unit.settled]);
    if (this.#batchEvents >= batchEventsMax || this.#batchSize >= batchSizeMax) await this.flush();
  }

  /** Ends what the units before this one began, on the branch that they are on: this unit goes to a different one. */
  async #settleHere(unit: PreparedUnit): Promise<void> {
    await this.flush();
    const { turn } = this.#current;
    if (unit.settled.length === 0) return;
    const drafts = [...this.#goneOn(unit, this.#current), ...unit.settled];
    await this.#write(
      this.#current,
      drafts.map((draft) => ({ ...draft, turn })),
    );
  }

  /** Appends events that belong to no unit, at the end of the current branch. */
  async append(drafts: readonly EventDraft[]): Promise<void> {
    await this.flush();
    if (drafts.length > 0) await this.#write(this.#current, drafts);
  }

  /** Writes the batch. If an event in it cannot be stored, it is written unit by unit, and that unit is kept as it is. */
  async flush(): Promise<void> {
    const [batch, line] = [this.#batch, this.#batchLine];
    if (batch.length === 0) return;
    [this.#batch, this.#batchSize, this.#batchEvents] = [[], 0, 0];
    try {
      await this.#write(
        line,
        batch.flatMap(({ drafts }) => drafts),
      );
      let at = line.head - batch.reduce((sum, { drafts }) => sum + drafts.length, 0);
      for (const pending of batch) at = this.#settle(pending, at);
    } catch (error) {
      if (!isFaulty(error)) throw error;
      for (const pending of batch) await this.#writeAlone(line, pending);
    }
  }

  async #writeAlone(line: Line, pending: Pending): Promise<void> {
    const { unit } = pending;
    const before = line.head;
    try {
      await this.#write(line, pending.drafts);
    } catch (error) {
      if (!isFaulty(error)) throw error;
      const why = messageOf(error);
      this.#onKept(unit, why);
      await this.#write(line, [{ ...unit.fallback(why), turn: pending.standing.turn }]);
      pending.standing.seq = line.head;
      return;
    }
    this.#settle(pending, before);
  }

  /** Gives the units of a batch their seqs; events that an earlier unit was settled with move its place behind them. */
  #settle({ unit, drafts, standing }: Pending, before: number): number {
    standing.seq = before + drafts.length;
    const settles = unit.settled.length === 0 ? undefined : this.#standings.get(unit.meaning.parent ?? '');
    const isNext = settles?.line === standing.line && settles.seq === before;
    if (settles !== undefined && isNext) settles.seq = before + unit.settled.length;
    return standing.seq;
  }

  #push(unit: PreparedUnit, line: Line, marks: readonly EventDraft[]): void {
    const ownTurn = (draft: EventDraft): EventDraft =>
      draft.turn === undefined ? { ...draft, turn: line.turn } : draft;
    const drafts = [...marks, ...unit.drafts].map(ownTurn);
    this.#batch.push({ unit, drafts, standing: this.#stand(unit, line, line.head) });
    this.#batchSize += unit.size;
    this.#batchEvents += drafts.length;
  }

  /** Takes back what the end of the source settled when it was read before, and a line that was cut off there. */
  #goneOn({ id }: PreparedUnit, line: Line): EventDraft[] {
    const { ends, cut } = line.tail;
    const seqs = [...ends, ...cut].sort((a, b) => a - b);
    if (seqs.length === 0) return [];
    line.tail = { ...line.tail, ends: [], cut: [] };
    return [{ type: 'event.reverted', id: `${id}-e`, data: { target: seqs[0] ?? 0, seqs, reason: goneOnReason } }];
  }

  #rewound(unit: PreparedUnit, line: Line): EventDraft[] {
    const to = this.#rewoundTo(unit);
    if (to === undefined || to.seq >= line.head) return [];
    line.turn = to.turn;
    return [{ type: 'branch.rewound', id: `${unit.id}-r`, data: { to: to.seq } }];
  }

  #rewoundTo({ meaning: { rewindTo } }: PreparedUnit): { readonly seq: number; readonly turn: number } | undefined {
    if (rewindTo === undefined) return undefined;
    return rewindTo === '' ? { seq: 0, turn: 0 } : this.#standings.get(rewindTo);
  }

  /** Begins a branch with a unit; a branch without it never exists. */
  async #fork(
    unit: PreparedUnit,
    from: Line,
    at: { readonly seq: number; readonly turn: number; readonly reason: string },
  ): Promise<void> {
    const place = await placeAt(this.#engine, this.#session, from.name, { kind: 'seq', seq: seq(at.seq) });
    const branch = await freeName(this.#engine, place);
    const line: Line = { name: branch, head: at.seq, reached: at.seq, tail: noTail, turn: at.turn };
    this.#turn(line, unit);
    const forked = {
      ...(await forkedDraft(
        this.#engine,
        { place, digest: await digestAt(this.#engine, place), turn: undefined },
        { reason: at.reason },
      )),
      id: `${unit.id}-f`,
    };
    const standing = this.#stand(unit, line, at.seq);
    this.#lines.set(branch, line);
    const before = this.#current;
    [this.#current, this.#batchLine, this.hasBranched] = [line, line, true];
    const target = { kind: 'fork', branch, parent: pointOf(place) } as const;
    const isSame = at.reason === differsReason && from === before;
    const own = isSame ? [...unit.settled, ...unit.drafts] : unit.drafts;
    const drafts = own.map((draft) => ({ ...draft, turn: draft.turn ?? line.turn }));
    try {
      await this.#write(line, [forked, ...drafts], target);
    } catch (error) {
      if (!isFaulty(error)) throw error;
      this.#onKept(unit, messageOf(error));
      await this.#write(line, [forked, { ...unit.fallback(messageOf(error)), turn: line.turn }], target);
    }
    standing.seq = line.head;
    if (at.reason === differsReason) from.successor = line;
  }

  async #write(
    line: Line,
    drafts: readonly EventDraft[],
    target: Parameters<typeof write>[1]['target'] = { kind: 'branch', branch: line.name },
  ): Promise<void> {
    for (let from = 0; from < drafts.length; from += limits.appendEventsMax) {
      const some = drafts.slice(from, from + limits.appendEventsMax);
      const isFork = target.kind === 'fork' && from === 0;
      const written: readonly Event[] = await write(this.#engine, {
        session: this.#session,
        target: isFork ? target : { kind: 'branch', branch: line.name },
        drafts: some,
        condition: isFork ? { kind: 'any' } : { kind: 'head', seq: seq(line.head) },
      });
      // A repeated append returns the seqs of the first one.
      line.head = Math.max(line.head, written.at(-1)?.seq ?? 0);
      line.reached = line.head;
      this.events += written.length;
      keepSnapshots(this.#engine, this.#session, written, { isImport: true });
    }
  }

  #turn(line: Line, { meaning }: PreparedUnit): void {
    if (meaning.begins?.kind === 'prompt') line.turn++;
  }

  /** Notes that a prompt or response begins; returns true if a different one of its kind did after the same message. */
  #begin({ meaning: { begins, parent } }: PreparedUnit): boolean {
    if (begins === undefined || parent === undefined) return false;
    const standing = parent === '' ? this.#beginning : this.#standings.get(parent);
    if (standing === undefined) return false;
    const message = standing.anchor ?? standing;
    message[begins.kind] ??= begins.id;
    return message[begins.kind] !== begins.id;
  }

  /** Notes where a unit stands. */
  #stand({ meaning: { id, parent, isTalk } }: PreparedUnit, line: Line, at: number): Standing {
    const above = isTalk === true || parent === undefined ? undefined : this.#standings.get(parent);
    const standing: Standing = { line, seq: at, turn: line.turn };
    const placed = above === undefined ? standing : { ...standing, anchor: above.anchor ?? above };
    if (id !== undefined && !this.#standings.has(id)) this.#standings.set(id, placed);
    return placed;
  }
}

/** Tells whether an error is about the data of an event, so that the event can be kept without its meaning. */
function isFaulty(error: unknown): error is RepriseError {
  return (
    error instanceof RepriseError &&
    (/^(?:json|event|id|time)\./.test(error.code) || hasCode(error, 'limit.exceeded')) &&
    !hasCode(error, 'event.id-reused')
  );
}
