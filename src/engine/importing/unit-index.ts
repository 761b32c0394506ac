import type { Event } from '../../core/event/event.ts';
import { previous, seq } from '../../core/point.ts';
import type { Stretches } from '../../core/recording/stretches.ts';
import { segmentOver } from '../../core/view/segment.ts';
import type { Segment } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { readEvents } from '../history/stored-events.ts';
import { erasedPlace, isPartOf, placeOf, startsUnit, type UnitGroup, type UnitSpot } from './unit-places.ts';

/** Events between two units that are read along with them: cheaper than a new read. */
const gapMax = 1_000;

/** Units of one branch that are read together, in the order of the source. */
interface UnitRun {
  readonly segment: Segment;
  readonly entries: readonly number[];
}

/** Where the units of one file of a source are in the log: a few numbers for each. */
export class FileIndex {
  readonly file: string;
  readonly base: string | undefined;
  readonly #branches: string[] = [];
  readonly #at: number[] = [];
  readonly #first: number[] = [];
  readonly #last: number[] = [];
  readonly #branch: number[] = [];
  /** The entries whose places are guesses: their first events were erased. */
  readonly #guesses = new Set<number>();
  /** Whether the log has the units in the order of the source, each once. */
  #isOrdered = true;

  constructor({ file, base }: Pick<UnitSpot, 'file' | 'base'>) {
    this.file = file;
    this.base = base;
  }

  /** The number of units. */
  get size(): number {
    return this.#at.length;
  }

  /** Adds the first event of a unit. */
  add(at: number, event: Event, branch: string, isGuess: boolean): void {
    const entry = this.#at.length;
    if (entry > 0 && at <= (this.#at[entry - 1] ?? 0)) this.#isOrdered = false;
    if (this.#branches.at(-1) !== branch) this.#branches.push(branch);
    this.#at.push(at);
    this.#first.push(event.seq);
    this.#last.push(event.seq);
    this.#branch.push(this.#branches.length - 1);
    if (isGuess) this.#guesses.add(entry);
  }

  /** Adds a later event to the last unit. */
  extend(event: Event): void {
    this.#last[this.#last.length - 1] = event.seq;
  }

  /** Reads the units in the order of the source, a page of the log at a time. Of a unit that was read twice, the second reading counts. */
  async *groups(engine: Engine, session: string): AsyncGenerator<UnitGroup, void, undefined> {
    for (const { segment, entries } of this.#runs()) {
      let [next, held]: [number, Event[]] = [0, []];
      for await (const { events } of readEvents(engine, session, [segment]))
        for (const event of events) {
          while (next < entries.length && event.seq > (this.#last[entries[next] ?? 0] ?? 0)) {
            if (held.length > 0) yield this.#group(entries[next] ?? 0, held);
            [next, held] = [next + 1, []];
          }
          const entry = entries[next];
          if (entry === undefined) break;
          const spot = { file: this.file, base: this.base, at: this.#at[entry] ?? 0 };
          if (event.seq >= (this.#first[entry] ?? 0) && isPartOf(event, spot)) held.push(event);
        }
      if (held.length > 0) yield this.#group(entries[next] ?? 0, held);
    }
  }

  #group(entry: number, events: readonly Event[]): UnitGroup {
    return { file: this.file, base: this.base, at: this.#at[entry] ?? 0, events };
  }

  /** Returns the entries in the order of the source. */
  #entries(): readonly number[] {
    const entries = Array.from(this.#at, (_, entry) => entry);
    if (this.#isOrdered) return entries;
    const atOf = (entry: number | undefined): number => this.#at[entry ?? -1] ?? -1;
    entries.sort((a, b) => atOf(a) - atOf(b) || a - b);
    return entries.filter((entry, index) => {
      if (this.#guesses.has(entry)) return true;
      for (let later = index + 1; atOf(entries[later]) === atOf(entry); later++)
        if (!this.#guesses.has(entries[later] ?? 0)) return false;
      return true;
    });
  }

  *#runs(): Generator<UnitRun> {
    let run: number[] = [];
    for (const entry of this.#entries()) {
      const before = run.at(-1);
      const gap = (this.#first[entry] ?? 0) - (this.#last[before ?? 0] ?? 0);
      const isNext = before !== undefined && this.#branch[entry] === this.#branch[before] && gap > 0 && gap <= gapMax;
      if (!isNext && run.length > 0) {
        yield this.#run(run);
        run = [];
      }
      run.push(entry);
    }
    if (run.length > 0) yield this.#run(run);
  }

  #run(entries: readonly number[]): UnitRun {
    const [first = 0, last = 0] = [entries[0], entries.at(-1)];
    const after = previous(seq(this.#first[first] ?? 1));
    const branch = this.#branches[this.#branch[first] ?? 0] ?? '';
    return { entries, segment: segmentOver({ branch, after, through: seq(this.#last[last] ?? 0) }) };
  }
}

/** Where the units of a source are in the log. */
export class UnitIndex {
  readonly #files = new Map<string, FileIndex>();
  #last: { readonly spot: UnitSpot; readonly branch: string } | undefined;
  /** The pieces that are repeated in the units. */
  stretches: Stretches = [];

  /** The files of the source, its bases first. */
  get files(): readonly FileIndex[] {
    const all = [...this.#files.values()];
    return [...all.filter(({ base }) => base !== undefined), ...all.filter(({ base }) => base === undefined)];
  }

  /** Adds the next event of the log. */
  add(event: Event, branch: string): void {
    const own = placeOf(event);
    const last = this.#last;
    const spot = own ?? erasedPlace(event, last?.spot);
    if (spot === undefined) return;
    const file = this.#files.get(spot.file) ?? new FileIndex(spot);
    this.#files.set(spot.file, file);
    const isSame = last?.branch === branch && last.spot.file === spot.file && last.spot.at === spot.at;
    if (isSame && !startsUnit(event)) return file.extend(event);
    file.add(spot.at, event, branch, own === undefined);
    this.#last = { spot, branch };
  }
}
