import { expect, test } from 'vitest';
import { EventIndex } from '../history/event-index.ts';
import { nearestSeq, placeEvents, timeAt } from './positions.ts';

/** Makes an index of events at times; `n>m` is the end of the call that n starts. */
function indexOf(
  times: readonly number[],
  calls: Readonly<Record<number, number>> = {},
  turns: readonly number[] = [],
): EventIndex {
  const index = new EventIndex();
  const starts = new Map(Object.entries(calls).map(([start, end]) => [end, Number(start)]));
  index.put(
    times.map((time, position) => {
      const seq = position + 1;
      const cause = starts.get(seq);
      const type = cause !== undefined ? 'call.ended' : calls[seq] === undefined ? 'message.added' : 'call.started';
      return { seq, time, type, turn: turns[position] ?? 1, ...(cause === undefined ? {} : { cause, began: cause }) };
    }),
  );
  return index;
}

test('an idle stretch is folded, a call of the same length is not', () => {
  const hour = 3_600_000;
  const idle = placeEvents(indexOf([1_000, 2_000, 2_000 + hour, 3_000 + hour]), 'time');
  expect(idle.folds).toMatchObject([{ ms: hour, from: 2_000 }]);
  expect(idle.total).toBeCloseTo(2_024);
  const busy = placeEvents(indexOf([1_000, 2_000, 2_000 + hour, 3_000 + hour], { 2: 3 }), 'time');
  expect(busy.folds).toEqual([]);
  expect(busy.total).toBe(2_000 + hour);
});

test('a clock that goes back does not move an event before the one it follows', () => {
  const { at } = placeEvents(indexOf([1_000, 5_000, 2_000, 6_000], { 1: 4 }), 'time');
  expect([...at]).toEqual([0, 0, 4_000, 4_000, 5_000]);
});

test('by seq every event has the same width, by turn every turn', () => {
  const index = indexOf([1, 2, 3, 1_000], {}, [1, 1, 2, 2]);
  expect([...placeEvents(index, 'seq').at]).toEqual([0, 0.5, 1.5, 2.5, 3.5]);
  expect([...placeEvents(index, 'turn').at]).toEqual([0, 0.25, 0.75, 1.25, 1.75]);
});

test('events that all happened at once are placed by their order', () => {
  const placed = placeEvents(indexOf([7, 7, 7]), 'time');
  expect([placed.total, placed.at[3]]).toEqual([3, 2.5]);
});

test('a place finds the nearest event and its time', () => {
  const placed = placeEvents(indexOf([1_000, 1_100, 1_200, 2_000], { 1: 4 }), 'time');
  expect([-5, 40, 60, 150.1, 590, 601, 5_000].map((place) => nearestSeq(placed, place))).toEqual([1, 1, 2, 3, 3, 4, 4]);
  expect(timeAt(placed, 600)).toBe(1_600);
  expect(nearestSeq(placeEvents(new EventIndex(), 'time'), 3)).toBe(0);
});
