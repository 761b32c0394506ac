import { assert } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { stringAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { type Point, seq } from '../../core/point.ts';
import { write } from '../changing/write.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { keepSnapshots } from '../history/keep-snapshots.ts';
import { placeAt } from '../history/place.ts';
import { readPoints } from '../history/stored-events.ts';
import { type StoredTail, storedTail } from './import-standing.ts';
import type { UnitPlace } from './unit-table.ts';

/** The reason of a branch on which a source continues since it differs from the log. */
export const differsReason = 'the imported source differs from here on';

/** A branch that an import writes to. */
export interface Line {
  readonly name: string;
  /** Its number in the order in which this import came to the branches. */
  readonly number: number;
  /** The last seq of the branch. */
  head: number;
  /** The seq that this reading of the source has reached. */
  reached: number;
  /** Where the units that earlier imports stored end. */
  tail: StoredTail;
  /** The branch on which the source continues since it differs from this one. */
  successor?: Line;
  turn: number;
}

/** The branches that one import writes to: it knows them in the order in which it came to them, and appends to them. */
export class ImportLines {
  readonly #engine: Engine;
  readonly #session: string;
  readonly #byName = new Map<string, Line>();
  readonly #list: Line[] = [];
  /** How many events were appended. */
  events = 0;

  constructor(engine: Engine, session: string) {
    this.#engine = engine;
    this.#session = session;
  }

  /** The names of the branches. */
  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** Returns the branch of a name; undefined if the import has not come to it. */
  named(name: string): Line | undefined {
    return this.#byName.get(name);
  }

  /** Returns the branch that a unit is on. */
  of({ line }: UnitPlace): Line {
    const found = this.#list[line];
    assert(found !== undefined, 'a unit is on a branch that the import came to');
    return found;
  }

  /** Adds a branch. */
  add(facts: Omit<Line, 'number'>): Line {
    const line = { ...facts, number: this.#list.length };
    this.#byName.set(line.name, line);
    this.#list.push(line);
    return line;
  }

  /** Adds a branch of the log, at the first of its units that this reading came to. */
  async open({ branch, seq: reached }: Point, turn: number): Promise<Line> {
    const { seq: head } = await placeAt(this.#engine, this.#session, branch, { kind: 'head' });
    const tail = await storedTail(this.#engine, this.#session, branch);
    const line = this.add({ name: branch, head, reached, tail, turn });
    await this.#follow(line);
    return line;
  }

  /** Appends events to a branch, or begins it with them. */
  async write(
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

  /** Notes which branch the source left for this one, if it differed there. */
  async #follow(line: Line): Promise<void> {
    const records = await this.#engine.store.branches(sessionRef(this.#engine, this.#session));
    const parent = records.find(({ branch }) => branch === line.name)?.parent;
    if (parent === undefined) return;
    const [forked] = await readPoints(this.#engine, this.#session, [{ branch: line.name, seq: seq(parent.seq + 1) }]);
    const from = this.#byName.get(parent.branch);
    if (from !== undefined && stringAt(forked?.data, 'reason') === differsReason) from.successor = line;
  }
}
