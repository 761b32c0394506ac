import { columnFlags } from '../../../src/core/session/event-columns.ts';
import type { EventIndex } from '../history/event-index.ts';

/** A stretch of a history in numbers. */
export interface RangeSums {
  readonly events: number;
  readonly calls: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Undefined if no price is known. */
  readonly cost: number | undefined;
  readonly modelMs: number;
  readonly toolMs: number;
  /** The time in which no call was open. */
  readonly idleMs: number;
}

/** Adds up the events from one seq to another, both included. */
export function sumsOf(index: EventIndex, [from, to]: readonly [number, number]): RangeSums {
  const { columns } = index;
  const model = index.numberOf('kind', 'model');
  const sums = { events: 0, calls: 0, errors: 0, inputTokens: 0, outputTokens: 0, modelMs: 0, toolMs: 0, idleMs: 0 };
  let cost: number | undefined;
  let [open, last] = [0, Number.NaN];
  for (let seq = Math.max(1, from); seq <= Math.min(to, index.head); seq++) {
    if (!index.has(seq)) continue;
    const time = columns.time[seq] ?? 0;
    if (open === 0 && time > last) sums.idleMs += time - last;
    last = Number.isNaN(last) ? time : Math.max(last, time);
    sums.events++;
    const flags = columns.flags[seq] ?? 0;
    if ((flags & columnFlags.error) !== 0) sums.errors++;
    if ((flags & columnFlags.call) === 0) continue;
    if ((flags & columnFlags.end) === 0) {
      sums.calls++;
      if (index.endOf(seq) !== undefined) open++;
      continue;
    }
    const began = index.callOf(seq);
    if (began !== undefined && began >= from) open--;
    sums.inputTokens += columns.inputTokens[seq] ?? 0;
    sums.outputTokens += columns.outputTokens[seq] ?? 0;
    const price = index.number('cost', seq);
    if (price !== undefined) cost = (cost ?? 0) + price;
    const took = index.number('latencyMs', seq) ?? 0;
    if (columns.kind[seq] === model) sums.modelMs += took;
    else sums.toolMs += took;
  }
  return { ...sums, cost };
}
