import type { Event } from '../../core/event/event.ts';
import { beginning, later, type Seq } from '../../core/point.ts';
import { segmentAt, segmentsBefore } from '../../core/view/segment.ts';
import { liveMarkers, type Segment, takenBack } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { erasedValue, neverWritten, operationsOn, type StateValue, valueAfter } from './entry.ts';
import { countedTo, type KeyOf, lastEvent, type StateView, stateView, versionUpTo } from './lookup.ts';

/**
 * Finds one version of a key: the last in the view with that number, which is the first that `history` returns.
 *
 * Version numbers can repeat: a commit takes the next number in its own view, and undoing a revert can bring back a commit
 * that it had not seen. So a view consists of runs. Within a run, every commit saw the ones before it, and numbers rise: a
 * run is bisected until the number is found. Nearly every view is one run.
 */
export async function versionAt(engine: Engine, place: Place, of: KeyOf, version: number): Promise<StateValue> {
  const look = stateView(engine, place);
  const seams = seamsOf(place);
  let { segments } = look;
  let erasedVersion: number | undefined;
  for (;;) {
    const last = await lastEvent({ ...look, segments }, of);
    if (last === undefined) return neverWritten(of.agent, of.key);
    const before = segmentsBefore(segments, last);
    if (last.erased === true) {
      // It has lost its number, which was one more than that of the commit before it.
      erasedVersion = (erasedVersion ?? (await versionUpTo({ ...look, segments: before }, of)) + 2) - 1;
      if (erasedVersion === version) return erasedValue(last, of, version);
      segments = before;
      continue;
    }
    erasedVersion = undefined;
    const run = runUpTo(before, last, seams);
    const search = new RunSearch({ ...look, segments: run.segments }, of);
    const found = await search.find(last, version);
    if (found !== undefined) return found;
    segments = [...run.before, ...(await search.unknown())];
  }
}

/**
 * Returns the seqs of edits at which a run may end: undone edits, whose removed commits are in the view again, and
 * edits that carry a commit, which brings its own number.
 */
function seamsOf({ history, seq }: Place): ReadonlySet<Seq> {
  const carrying = liveMarkers(history, seq).filter(
    (marker) => (marker.kind === 'replaced' || marker.kind === 'inserted') && marker.type === 'state.committed',
  );
  return new Set([...takenBack(history, seq), ...carrying].map((marker) => marker.seq));
}

interface Run {
  readonly segments: readonly Segment[];
  /** The part of the view before it. */
  readonly before: readonly Segment[];
}

/** Returns the run that ends with an event, given the view before that event. A carried event is a separate run. */
function runUpTo(before: readonly Segment[], { branch, seq }: Event, seams: ReadonlySet<Seq>): Run {
  const own = segmentAt({ branch, seq });
  if (seams.has(seq)) return { segments: [{ ...own, carried: true }], before };
  const seam = [...seams].reduce((last, held) => (held < seq && held > last ? held : last), beginning);
  const end = before.findLastIndex((held) => (held.carried ? seams.has(held.through) : held.after < seam));
  const cut = before[end];
  const isCut = cut !== undefined && !cut.carried && cut.through > seam;
  return {
    segments: [...(isCut ? [{ ...cut, after: seam }] : []), ...before.slice(end + 1), own],
    before: isCut ? [...before.slice(0, end), { ...cut, through: seam }] : before.slice(0, end + 1),
  };
}

/** Looks for a number in one run. */
class RunSearch {
  readonly #run: StateView;
  readonly #of: KeyOf;
  readonly #length: number;

  constructor(run: StateView, of: KeyOf) {
    this.#run = run;
    this.#of = of;
    this.#length = run.segments.reduce((length, segment) => length + sizeOf(segment), 0);
  }

  /**
   * Returns the last commit of the run with the number, given the run's last commit; undefined if none is known to have
   * it.
   */
  async find(last: Event, version: number): Promise<StateValue | undefined> {
    const { agent, key } = this.#of;
    const highest = operationsOn(last, agent, key).at(-1)?.version ?? 0;
    if (highest < version) return undefined;
    const past = await this.#leastWhere((held) => held !== undefined && held > version);
    let segments: readonly Segment[] = this.#first(past);
    // Look at the first commit past the number, since it may have several versions, and at the one before.
    for (let tries = 0; tries < 2; tries++) {
      const event = await lastEvent({ ...this.#run, segments }, this.#of);
      if (event === undefined) return undefined;
      const found = await this.#valueIn(event, segments, version);
      if (found !== undefined) return found;
      segments = segmentsBefore(segments, event);
    }
    return undefined;
  }

  /** Returns the part of the run before the first commit whose number is known: erased commits only, if any. */
  async unknown(): Promise<readonly Segment[]> {
    return this.#first((await this.#leastWhere((held) => held !== undefined)) - 1);
  }

  async #valueIn(event: Event, segments: readonly Segment[], version: number): Promise<StateValue | undefined> {
    const { agent, key } = this.#of;
    if (event.erased === true) {
      const { known, erased } = await countedTo({ ...this.#run, segments }, this.#of);
      return known !== undefined && known + erased === version ? erasedValue(event, this.#of, version) : undefined;
    }
    const operation = operationsOn(event, agent, key).findLast((held) => held.version === version);
    return operation === undefined ? undefined : valueAfter(event, operation);
  }

  /**
   * Returns the length of the shortest beginning of the run whose last known number (undefined if none) satisfies a
   * test, or the length of the run.
   */
  async #leastWhere(isMeant: (held: number | undefined) => boolean): Promise<number> {
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const { known, erased } = await countedTo({ ...this.#run, segments: this.#first(middle) }, this.#of);
      if (isMeant(known === undefined ? undefined : known + erased)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Returns the first so many seqs of the run; excepted seqs count too. */
  #first(count: number): Segment[] {
    const first: Segment[] = [];
    let left = count;
    for (const segment of this.#run.segments) {
      if (left <= 0) break;
      first.push({ ...segment, through: later(segment.after, Math.min(left, sizeOf(segment))) });
      left -= sizeOf(segment);
    }
    return first;
  }
}

const sizeOf = ({ after, through }: Segment): number => through - after;
