import { expect, test } from 'vitest';
import { columnFlags, rowsOf } from '../../../src/core/session/event-columns.ts';
import { EventIndex, type IndexRow } from './event-index.ts';

const { call: isCall, end, error, erased, reused } = columnFlags;

function call(
  seq: number,
  type: 'call.started' | 'call.ended',
  { flags = 0, ...more }: Partial<IndexRow> = {},
): IndexRow {
  return { seq, time: seq, type, turn: 1, flags: flags | isCall | (type === 'call.ended' ? end : 0), ...more };
}

test('a call is one thing with two ends', () => {
  const index = new EventIndex();
  index.put([call(2, 'call.started'), call(3, 'call.started'), call(5, 'call.ended', { began: 2, flags: error })]);
  expect([index.callOf(2), index.callOf(5), index.callOf(3)]).toEqual([2, 2, 3]);
  expect([index.endOf(2), index.endOf(3)]).toEqual([5, undefined]);
  expect([index.isError(5), index.isError(2)]).toEqual([true, false]);
  expect([index.head, index.count, index.has(4)]).toEqual([5, 3, false]);
});

test('an end that comes before its start, and an event that comes twice, are found', () => {
  const index = new EventIndex();
  index.put([call(2_000, 'call.ended', { began: 1_500, name: 'refund' })]);
  index.put([call(1_500, 'call.started', { name: 'refund' }), call(2_000, 'call.ended', { began: 1_500 })]);
  expect([index.endOf(1_500), index.count]).toEqual([2_000, 2]);
});

test('what is missing is missing, and zero is zero', () => {
  const index = new EventIndex();
  index.put([call(1, 'call.ended', { latencyMs: 0, flags: erased | reused })]);
  expect([index.number('latencyMs', 1), index.number('cost', 1)]).toEqual([0, undefined]);
  expect([index.hasFlag(1, 'erased'), index.hasFlag(1, 'simulated')]).toEqual([true, false]);
  expect([index.word('agent', 1), index.word('agent', 99)]).toEqual(['', '']);
});

test('a call without a recorded latency took the time between its events', () => {
  const index = new EventIndex();
  index.put([call(1, 'call.started', { time: 1_000 }), call(2, 'call.ended', { time: 9_500, latencyMs: 0, began: 1 })]);
  expect(index.number('latencyMs', 2)).toBe(8_500);
});

test('events that left the view are known as such', () => {
  const index = new EventIndex();
  index.put([1, 2, 3, 4].map((seq) => call(seq, 'call.started')));
  index.leaveOut([[2, 3]]);
  expect([1, 2, 3, 4].map((seq) => index.isInView(seq))).toEqual([true, false, false, true]);
});

test('a chunk of the store becomes rows, with the words of its own dictionary', () => {
  const none = { firstToken: [], inputTokens: [], outputTokens: [], cachedTokens: [], cost: [] };
  const index = new EventIndex();
  index.put([call(1, 'call.started', { name: 'first', agent: 'b' })]);
  index.putRows(
    rowsOf({
      first: 2,
      startedAt: 1_000,
      texts: ['', 'call.started', 'a', 'refund', 'tool', 'call.ended', 'ok'],
      time: [0, 5],
      type: [1, 5],
      agent: [2, 2],
      run: [0, 0],
      turn: [3, 0],
      cause: [0, 1],
      flags: [isCall | columnFlags.named, isCall | end | columnFlags.named | columnFlags.outcome],
      name: [3, 3],
      kind: [4, 4],
      effect: [0],
      outcome: [6],
      began: [1],
      latency: [5],
      ...none,
    }),
  );
  expect([index.word('name', 2), index.word('agent', 3), index.word('outcome', 3), index.columns.turn[3]]).toEqual([
    'refund',
    'a',
    'ok',
    3,
  ]);
  expect([index.endOf(2), index.callOf(3), index.number('latencyMs', 3), index.number('latencyMs', 2)]).toEqual([
    3,
    2,
    5,
    undefined,
  ]);
  expect(index.columns.time[3]).toBe(1_005);
});
