import type { ScaleName } from '../address/address.ts';
import type { EventIndex } from '../history/event-index.ts';

/** A stretch in which nothing happened, drawn as a short break. */
interface Fold {
  /** Where the break begins, and how wide it is. */
  readonly at: number;
  readonly width: number;
  /** The time that it represents. */
  readonly from: number;
  readonly ms: number;
}

/** Where every event is on the strip, in units of the strip. */
export interface Positions {
  readonly scale: ScaleName;
  /** By seq; the place 0 is the beginning. */
  readonly at: Float64Array;
  readonly total: number;
  readonly folds: readonly Fold[];
  /** By seq: the clock in milliseconds, which never goes back. */
  readonly clock: Float64Array;
}

/** An idle stretch is folded if it is longer than this part of the time in which something ran, and than a second. */
const foldedFrom = 0.02;
const foldedFromMs = 1_000;
/** The part of that time that one fold takes, and that all of them take together at most. */
const foldWidth = 0.012;
const foldsWidth = 0.2;

/** Places every event of an index. */
export function placeEvents(index: EventIndex, scale: ScaleName): Positions {
  const clock = clockOf(index);
  const range = (clock[index.head] ?? 0) - (clock[1] ?? 0);
  if (scale === 'turn') return byTurn(index, clock);
  return scale === 'time' && range > 0 ? byTime(index, clock) : bySeq(index, clock, scale);
}

function bySeq({ head }: EventIndex, clock: Float64Array, scale: ScaleName): Positions {
  const at = new Float64Array(head + 1);
  for (let seq = 1; seq <= head; seq++) at[seq] = seq - 0.5;
  return { scale, at, total: Math.max(1, head), folds: [], clock };
}

function byTurn(index: EventIndex, clock: Float64Array): Positions {
  const { head } = index;
  const at = new Float64Array(head + 1);
  const { turn } = index.columns;
  let band = 0;
  for (let from = 1; from <= head; band++) {
    let to = from;
    while (to < head && turn[to + 1] === turn[from]) to++;
    for (let seq = from; seq <= to; seq++) at[seq] = band + (seq - from + 0.5) / (to - from + 1);
    from = to + 1;
  }
  return { scale: 'turn', at, total: Math.max(1, band), folds: [], clock };
}

function byTime(index: EventIndex, clock: Float64Array): Positions {
  const { head } = index;
  const isIdle = idleBefore(index);
  const gap = (seq: number): number => (clock[seq] ?? 0) - (clock[seq - 1] ?? 0);
  let busy = 0;
  for (let seq = 2; seq <= head; seq++) if (gap(seq) <= foldedFromMs || !isIdle(seq)) busy += gap(seq);
  const least = Math.max(busy * foldedFrom, foldedFromMs);
  const isFolded = (seq: number): boolean => gap(seq) > least && isIdle(seq);
  let [active, count] = [0, 0];
  for (let seq = 2; seq <= head; seq++)
    if (isFolded(seq)) count++;
    else active += gap(seq);
  const width = active === 0 ? 1 : active * Math.min(foldWidth, foldsWidth / Math.max(1, count));
  const at = new Float64Array(head + 1);
  const folds: Fold[] = [];
  for (let seq = 2; seq <= head; seq++) {
    const before = at[seq - 1] ?? 0;
    if (isFolded(seq)) {
      folds.push({ at: before, width, from: clock[seq - 1] ?? 0, ms: gap(seq) });
      at[seq] = before + width;
    } else at[seq] = before + gap(seq);
  }
  return { scale: 'time', at, total: Math.max(at[head] ?? 0, Number.MIN_VALUE), folds, clock };
}

/** Returns the clock of each event: the latest time up to it. Events that are not there yet have that of those before. */
function clockOf(index: EventIndex): Float64Array {
  const { head, columns } = index;
  const clock = new Float64Array(head + 1);
  let latest = Number.NEGATIVE_INFINITY;
  for (let seq = 1; seq <= head; seq++) {
    if (columns.known[seq] === 1) latest = Math.max(latest, columns.time[seq] ?? 0);
    clock[seq] = latest === Number.NEGATIVE_INFINITY ? 0 : latest;
  }
  // Events that are still missing at the beginning are at the time of the first one that is there.
  const first = clock.find((time) => time > 0) ?? 0;
  for (let seq = 0; seq <= head && clock[seq] === 0; seq++) clock[seq] = first;
  return clock;
}

/** Returns true if nothing ran just before an event: no call was open, apart from questions to people and calls that never ended. */
function idleBefore(index: EventIndex): (seq: number) => boolean {
  const { head, columns } = index;
  const open = new Uint16Array(head + 2);
  const person = index.numberOf('kind', 'person');
  let now = 0;
  for (let seq = 1; seq <= head; seq++) {
    open[seq] = Math.min(now, 65_535);
    if (columns.kind[seq] === person) continue;
    if ((columns.end[seq] ?? 0) > 0) now++;
    const cause = columns.cause[seq] ?? 0;
    if (cause > 0 && columns.end[cause] === seq) now--;
  }
  return (seq) => open[seq] === 0;
}

/** Returns the first position of a sorted list, from one on, whose value is not below another; the length if all are. */
export function lowerBound(values: Uint32Array | Float64Array, value: number, from = 0): number {
  let low = from;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the first and the last seq between two places on the strip. */
export function seqsBetween({ at }: Positions, from: number, to: number): readonly [number, number] {
  return [lowerBound(at, from, 1), Math.min(at.length - 1, lowerBound(at, to, 1))];
}

/** Returns the seq whose place is nearest to a place on the strip. */
export function nearestSeq({ at }: Positions, place: number): number {
  if (at.length < 2) return 0;
  const low = Math.min(at.length - 1, lowerBound(at, place, 1));
  const before = low > 1 ? low - 1 : low;
  return Math.abs((at[before] ?? 0) - place) <= Math.abs((at[low] ?? 0) - place) ? before : low;
}

/** Returns the time at a place on the strip. */
export function timeAt({ at, clock }: Positions, place: number): number {
  const low = Math.min(at.length - 1, lowerBound(at, place, 1));
  const [u1, t1] = [at[low] ?? 0, clock[low] ?? 0];
  if (low <= 1) return t1;
  const [u0, t0] = [at[low - 1] ?? 0, clock[low - 1] ?? 0];
  return u1 === u0 ? t1 : t0 + ((place - u0) / (u1 - u0)) * (t1 - t0);
}
