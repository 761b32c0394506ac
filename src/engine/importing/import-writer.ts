import { hasCode, messageOf, RepriseError } from '../../core/error.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { type Point, seq } from '../../core/point.ts';
import { mainBranch } from '../../core/ref.ts';
import { forkedDraft, freeName } from '../changing/fork.ts';
import type { Engine } from '../context/engine.ts';
import { digestAt, placeAt, pointOf } from '../history/place.ts';
import { differsReason, ImportLines, type Line } from './import-lines.ts';
import { noTail, type StoredTail } from './import-standing.ts';
import type { PreparedUnit } from './unit-events.ts';
import { sourceBeginning, type UnitNumber, type UnitPlace, UnitTable } from './unit-table.ts';

interface Pending {
  readonly unit: PreparedUnit;
  readonly drafts: readonly EventDraft[];
  readonly turn: number;
  /** Its place in the table; undefined if it has no id. */
  readonly number: UnitNumber | undefined;
}

/** Called when the meaning of a unit could not be stored, so that the unit was kept as it is. */
export type OnKept = (unit: PreparedUnit, why: string) => void;

/** The reason of a branch that is a fork in its source. The units of such branches are parts of one file. */
export const forkReason = 'fork in the imported source';

const goneOnReason = 'the imported source has gone on';

// Larger batches take more memory, because their events live through more collections of garbage, and no less time.
const batchEventsMax = 1_000;
const batchSizeMax = 1_048_576;

/** Appends units to their branches, in batches, and forks where the source does. */
export class ImportWriter {
  readonly #engine: Engine;
  readonly #session: string;
  readonly #onKept: OnKept;
  readonly #lines: ImportLines;
  readonly #units: UnitTable;
  #current: Line;
  #file = '';
  #batch: Pending[] = [];
  #batchLine: Line;
  #batchSize = 0;
  #batchEvents = 0;
  #passed: readonly string[] = [];
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
    this.#lines = new ImportLines(engine, session);
    this.#units = new UnitTable(engine.platform);
    this.#current = this.#lines.add({ name: mainBranch, head, tail, reached: begin, turn: 0 });
    this.#batchLine = this.#current;
  }

  /** The branches that were written to, read, or passed over. */
  get branches(): readonly string[] {
    return [...new Set([...this.#lines.names, ...this.#passed])];
  }

  /** How many events were appended. */
  get events(): number {
    return this.#lines.events;
  }

  /** Passes over branches: they have the source as it was read before. */
  pass(branches: readonly string[]): void {
    this.#passed = branches;
  }

  /** Returns true if the log has what the end of the source settles. */
  get hasEnded(): boolean {
    return this.#current.tail.ends.length > 0;
  }

  /** Returns true if a unit of that id was read. */
  stands(id: string): boolean {
    return this.#units.find(id) !== undefined;
  }

  /** Notes a unit that the log has already: its last event is at this point. */
  async known(unit: PreparedUnit, point: Point): Promise<void> {
    this.#enter(unit);
    const line =
      this.#lines.named(point.branch) ??
      (await this.#lines.open(point, this.#placeOf(unit.meaning.parent)?.turn ?? this.#current.turn));
    line.turn = this.#rewoundTo(unit)?.turn ?? line.turn;
    this.#turn(line, unit);
    // An earlier reading may have found more in the last unit.
    const isLast = line.tail.unit === unit.id;
    line.reached = Math.max(line.reached, isLast ? line.tail.stored : point.seq);
    // A line that is still cut off remains.
    if (line.tail.cut.includes(point.seq))
      line.tail = { ...line.tail, cut: line.tail.cut.filter((at) => at !== point.seq) };
    this.#current = line;
    this.#begin(unit);
    const number = this.#stand(unit, line, point.seq);
    const drafts = [...unit.settled, ...unit.drafts];
    this.#settle({ unit, drafts, turn: line.turn, number }, line, point.seq - drafts.length);
  }

  /** Goes back to the beginning of the source on `main`: all of its units come again, after those of its bases. */
  async restart(to: number, id: string): Promise<void> {
    await this.#lines.write(this.#current, [{ type: 'branch.rewound', id, data: { to } }]);
    this.#current.tail = noTail;
  }

  /** Returns where a unit is; undefined if none of that id was read. */
  #placeOf(id: string | undefined): UnitPlace | undefined {
    const unit = id === undefined ? undefined : this.#units.find(id);
    return unit === undefined ? undefined : this.#units.placeOf(unit);
  }

  /** A new file continues at `main`, unless its units say what they follow. */
  #enter({ file }: PreparedUnit): void {
    if (file !== this.#file) this.#current = this.#lines.named(mainBranch) ?? this.#current;
    this.#file = file;
  }

  /** Appends a unit; it may wait in a batch until {@link flush}. */
  async add(unit: PreparedUnit): Promise<void> {
    this.#enter(unit);
    const { parent } = unit.meaning;
    const above = parent === undefined ? undefined : this.#units.find(parent);
    let line = above === undefined ? this.#current : this.#lines.of(this.#units.placeOf(above));
    const isFork = this.#begin(unit);
    if (isFork && above !== undefined) {
      await this.#settleHere(unit);
      const place = this.#units.placeOf(this.#units.anchorOf(above));
      return this.#fork(unit, this.#lines.of(place), { ...place, reason: forkReason });
    }
    while (line.successor !== undefined) line = line.successor;
    if (line.reached < line.tail.stored || line.tail.isLeft) {
      // The log has units that this reading did not come to, or a person continued: the source differs from here on.
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
    await this.#lines.write(
      this.#current,
      drafts.map((draft) => ({ ...draft, turn })),
    );
  }

  /** Appends events that belong to no unit, at the end of the current branch. */
  async append(drafts: readonly EventDraft[]): Promise<void> {
    await this.flush();
    if (drafts.length > 0) await this.#lines.write(this.#current, drafts);
  }

  /** Writes the batch. If an event in it cannot be stored, it is written unit by unit, and that unit is kept as it is. */
  async flush(): Promise<void> {
    const [batch, line] = [this.#batch, this.#batchLine];
    if (batch.length === 0) return;
    [this.#batch, this.#batchSize, this.#batchEvents] = [[], 0, 0];
    try {
      await this.#lines.write(
        line,
        batch.flatMap(({ drafts }) => drafts),
      );
      let at = line.head - batch.reduce((sum, { drafts }) => sum + drafts.length, 0);
      for (const pending of batch) at = this.#settle(pending, line, at);
    } catch (error) {
      if (!isFaulty(error)) throw error;
      for (const pending of batch) await this.#writeAlone(line, pending);
    }
  }

  async #writeAlone(line: Line, pending: Pending): Promise<void> {
    const { unit } = pending;
    const before = line.head;
    try {
      await this.#lines.write(line, pending.drafts);
    } catch (error) {
      if (!isFaulty(error)) throw error;
      const why = messageOf(error);
      this.#onKept(unit, why);
      await this.#lines.write(line, [{ ...unit.fallback(why), turn: pending.turn }]);
      if (pending.number !== undefined) this.#units.move(pending.number, line.head);
      return;
    }
    this.#settle(pending, line, before);
  }

  /** Gives the units of a batch their seqs; events that an earlier unit was settled with move its place behind them. */
  #settle({ unit, drafts, number }: Pending, line: Line, before: number): number {
    const last = before + drafts.length;
    if (number !== undefined) this.#units.move(number, last);
    const settled = unit.settled.length === 0 ? undefined : this.#units.find(unit.meaning.parent ?? '');
    if (settled === undefined) return last;
    const place = this.#units.placeOf(settled);
    if (place.line === line.number && place.seq === before) this.#units.move(settled, before + unit.settled.length);
    return last;
  }

  #push(unit: PreparedUnit, line: Line, marks: readonly EventDraft[]): void {
    const ownTurn = (draft: EventDraft): EventDraft =>
      draft.turn === undefined ? { ...draft, turn: line.turn } : draft;
    const drafts = [...marks, ...unit.drafts].map(ownTurn);
    this.#batch.push({ unit, drafts, turn: line.turn, number: this.#stand(unit, line, line.head) });
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
    return rewindTo === '' ? { seq: 0, turn: 0 } : this.#placeOf(rewindTo);
  }

  /** Begins a branch with a unit; a branch without it never exists. */
  async #fork(
    unit: PreparedUnit,
    from: Line,
    at: { readonly seq: number; readonly turn: number; readonly reason: string },
  ): Promise<void> {
    const place = await placeAt(this.#engine, this.#session, from.name, { kind: 'seq', seq: seq(at.seq) });
    const branch = await freeName(this.#engine, place);
    const line = this.#lines.add({ name: branch, head: at.seq, reached: at.seq, tail: noTail, turn: at.turn });
    this.#turn(line, unit);
    const forked = {
      ...(await forkedDraft(
        this.#engine,
        { place, digest: await digestAt(this.#engine, place), turn: undefined },
        { reason: at.reason },
      )),
      id: `${unit.id}-f`,
    };
    const number = this.#stand(unit, line, at.seq);
    const before = this.#current;
    [this.#current, this.#batchLine, this.hasBranched] = [line, line, true];
    const target = { kind: 'fork', branch, parent: pointOf(place) } as const;
    const isSame = at.reason === differsReason && from === before;
    const own = isSame ? [...unit.settled, ...unit.drafts] : unit.drafts;
    const drafts = own.map((draft) => ({ ...draft, turn: draft.turn ?? line.turn }));
    try {
      await this.#lines.write(line, [forked, ...drafts], target);
    } catch (error) {
      if (!isFaulty(error)) throw error;
      this.#onKept(unit, messageOf(error));
      await this.#lines.write(line, [forked, { ...unit.fallback(messageOf(error)), turn: line.turn }], target);
    }
    if (number !== undefined) this.#units.move(number, line.head);
    if (at.reason === differsReason) from.successor = line;
  }

  #turn(line: Line, { meaning }: PreparedUnit): void {
    if (meaning.begins?.kind === 'prompt') line.turn++;
  }

  /** Notes that a prompt or response begins; returns true if a different one of its kind did after the same message. */
  #begin({ meaning: { begins, parent } }: PreparedUnit): boolean {
    if (begins === undefined || parent === undefined) return false;
    const above = parent === '' ? sourceBeginning : this.#units.find(parent);
    return above !== undefined && this.#units.begin(above, begins.kind, begins.id);
  }

  /** Notes where a unit is; returns undefined for one that no other can follow. */
  #stand({ meaning: { id, parent, isTalk } }: PreparedUnit, line: Line, at: number): UnitNumber | undefined {
    if (id === undefined || this.stands(id)) return undefined;
    const above = isTalk === true || parent === undefined ? undefined : this.#units.find(parent);
    return this.#units.add(id, { line: line.number, seq: at, turn: line.turn }, above);
  }
}

/** Returns true if an error is about the data of an event, so that the event can be kept without its meaning. */
function isFaulty(error: unknown): error is RepriseError {
  return (
    error instanceof RepriseError &&
    (/^(?:json|event|id|time)\./.test(error.code) || hasCode(error, 'limit.exceeded')) &&
    !hasCode(error, 'event.id-reused')
  );
}
