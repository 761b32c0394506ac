import type { Event } from '../../core/event/event.ts';
import { beginning, later, type Seq } from '../../core/point.ts';
import { segmentAt, segmentsBefore } from '../../core/view/segment.ts';
import { liveMarkers, type Segment, takenBack } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { erasedValue, neverWritten, operationsOn, type StateValue, valueAfter } from './entry.ts';
import { countedTo, type KeyOf, lastEvent, type StateView, stateView, versionUpTo } from './lookup.ts';

/**
 * One version of a key: the last in the view that has the number, which is the one that `history` comes upon first.
 *
 * A number may be there twice, since it is one more than what the key was in the view of its commit, and a revert that is
 * taken back brings into the view what that commit did not know of. So a view is made of runs, within which every commit
 * knew of those before it and numbers rise: a run is halved until the number is found, however long it is. Nearly every
 * view is one run.
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
      // It has lost its number, and has the one after that of the commit before it.
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
 * The seqs of edits at which one run may end and another begin: edits that were taken back, so that what they took out is
 * in the view again, and edits that carry a commit, whose numbers somebody else gave.
 */
function seamsOf({ history, seq }: Place): ReadonlySet<Seq> {
  const carrying = liveMarkers(history, seq).filter(
    (marker) => (marker.kind === 'replaced' || marker.kind === 'inserted') && marker.type === 'state.committed',
  );
  return new Set([...takenBack(history, seq), ...carrying].map((marker) => marker.seq));
}

interface Run {
  readonly segments: readonly Segment[];
  /** What the view has before it. */
  readonly before: readonly Segment[];
}

/** The run that ends with an event, given what stands before that event. A carried event is a run of its own. */
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

  /** The last commit of the run that has the number, given the last of all; undefined if none is known to have it. */
  async find(last: Event, version: number): Promise<StateValue | undefined> {
    const { agent, key } = this.#of;
    const highest = operationsOn(last, agent, key).at(-1)?.version ?? 0;
    if (highest < version) return undefined;
    const past = await this.#leastWhere((held) => held !== undefined && held > version);
    let segments: readonly Segment[] = this.#first(past);
    // The first commit past the number, if it gave the key several, and the one before.
    for (let tries = 0; tries < 2; tries++) {
      const event = await lastEvent({ ...this.#run, segments }, this.#of);
      if (event === undefined) return undefined;
      const found = await this.#valueIn(event, segments, version);
      if (found !== undefined) return found;
      segments = segmentsBefore(segments, event);
    }
    return undefined;
  }

  /** What the run has before the first commit whose number is known: only commits that were erased, if any. */
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

  /** The least beginning of the run with a number (undefined as long as none is known) that is looked for, or all of it. */
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

  /** The first so many places of the run; places that are excepted count as well. */
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
