import { expect, test } from 'vitest';
import { EventIndex, flag } from './event-index.ts';

const call = (seq: number, type: 'call.started' | 'call.ended', more = {}) => ({ seq, time: seq, type, turn: 1, ...more });

test('a call is one thing with two ends', () => {
  const index = new EventIndex();
  index.put([call(2, 'call.started'), call(3, 'call.started'), call(5, 'call.ended', { cause: 2, outcome: 'error' })]);
  expect([index.callOf(2), index.callOf(5), index.callOf(3)]).toEqual([2, 2, 3]);
  expect([index.endOf(2), index.endOf(3)]).toEqual([5, undefined]);
  expect([index.isError(5), index.isError(2)]).toEqual([true, false]);
  expect([index.head, index.count, index.has(4)]).toEqual([5, 3, false]);
});

test('an end that comes before its start, and an event that comes twice, are found', () => {
  const index = new EventIndex();
  index.put([call(2_000, 'call.ended', { cause: 1_500, name: 'refund' })]);
  index.put([call(1_500, 'call.started', { name: 'refund' }), call(2_000, 'call.ended', { cause: 1_500 })]);
  expect([index.endOf(1_500), index.count]).toEqual([2_000, 2]);
});

test('what is missing is missing, and zero is zero', () => {
  const index = new EventIndex();
  index.put([call(1, 'call.ended', { latencyMs: 0, flags: flag.erased | flag.reused })]);
  expect([index.number('latencyMs', 1), index.number('cost', 1)]).toEqual([0, undefined]);
  expect([index.hasFlag(1, 'erased'), index.hasFlag(1, 'simulated')]).toEqual([true, false]);
  expect([index.word('agent', 1), index.word('agent', 99)]).toEqual(['', '']);
});

test('events that left the view are known as such', () => {
  const index = new EventIndex();
  index.put([1, 2, 3, 4].map((seq) => call(seq, 'call.started')));
  index.leaveOut([[2, 3]]);
  expect([1, 2, 3, 4].map((seq) => index.isInView(seq))).toEqual([true, false, false, true]);
});
