import type { EventIndex } from '../history/event-index.ts';
import { nearestSeq, type Positions, timeAt } from './positions.ts';
import type { Viewport } from './viewport.ts';

/** A mark of the ruler. */
export interface Tick {
  readonly at: number;
  readonly label: string;
}

const steps: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 43_200_000, 86_400_000,
];

/** Returns the marks of the ruler for the stretch on screen, about one for each `spacing` of its width. */
export function ticksOf(positions: Positions, view: Viewport, count: number, index: EventIndex): readonly Tick[] {
  if (count < 1 || positions.at.length < 2) return [];
  if (positions.scale === 'time' && positions.total !== index.head) return timeTicks(positions, view, count);
  return positions.scale === 'turn' ? turnTicks(positions, view, count, index) : seqTicks(positions, view, count);
}

function timeTicks(positions: Positions, view: Viewport, count: number): readonly Tick[] {
  const perTick = (view.to - view.from) / count;
  const step = steps.find((each) => each >= perTick) ?? Math.ceil(perTick / 86_400_000) * 86_400_000;
  const ticks: Tick[] = [];
  let from = Math.max(0, view.from);
  for (const end of [...positions.folds.filter((fold) => fold.at + fold.width > from), undefined]) {
    const to = Math.min(end?.at ?? positions.total, view.to);
    addTimes(ticks, positions, { from, to, step });
    if (end === undefined || end.at > view.to) break;
    from = Math.max(from, end.at + end.width);
  }
  return ticks.filter((tick, at) => at === 0 || tick.at - (ticks[at - 1]?.at ?? 0) > perTick * 0.5);
}

function addTimes(
  ticks: Tick[],
  positions: Positions,
  { from, to, step }: { from: number; to: number; step: number },
): void {
  if (to <= from) return;
  const began = timeAt(positions, from);
  const zone = new Date(began).getTimezoneOffset() * 60_000;
  const first = Math.ceil((began - zone) / step) * step + zone;
  for (let time = first; ticks.length < 200; time += step) {
    const at = from + (time - began);
    if (at > to) return;
    ticks.push({ at, label: clockText(time, step) });
  }
}

function seqTicks({ total }: Positions, view: Viewport, count: number): readonly Tick[] {
  const perTick = Math.max(1, (view.to - view.from) / count);
  const size = 10 ** Math.floor(Math.log10(perTick));
  const step = [1, 2, 5, 10].map((each) => each * size).find((each) => each >= perTick) ?? perTick;
  const ticks: Tick[] = [];
  for (let seq = Math.max(1, Math.ceil(view.from / step) * step); seq <= Math.min(total, view.to + 1); seq += step)
    ticks.push({ at: seq - 0.5, label: String(seq) });
  return ticks;
}

function turnTicks(positions: Positions, view: Viewport, count: number, index: EventIndex): readonly Tick[] {
  const step = Math.max(1, Math.ceil((view.to - view.from) / count));
  const ticks: Tick[] = [];
  for (let band = Math.max(0, Math.floor(view.from)); band < Math.min(positions.total, view.to); band += step) {
    const turn = index.columns.turn[nearestSeq(positions, band + 0.5)] ?? 0;
    ticks.push({ at: band, label: `turn ${turn}` });
  }
  return ticks;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** Writes a local time as precisely as a step of the ruler needs. */
export function clockText(time: number, step: number): string {
  const date = new Date(time);
  if (step >= 86_400_000) return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (step >= 60_000) return minutes;
  const whole = `${minutes}:${two(date.getSeconds())}`;
  return step >= 1_000 ? whole : `${whole}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
