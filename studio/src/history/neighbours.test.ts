import { expect, test } from 'vitest';
import { columnFlags } from '../../../src/core/session/event-columns.ts';
import { EventIndex } from './event-index.ts';
import { openingSeq, stepFrom } from './neighbours.ts';

const index = new EventIndex();
index.put([
  { seq: 1, time: 1, type: 'run.started', turn: 0 },
  { seq: 2, time: 2, type: 'call.started', turn: 1, kind: 'model' },
  { seq: 3, time: 3, type: 'call.ended', turn: 1, kind: 'model', cause: 2, outcome: 'ok' },
  { seq: 4, time: 4, type: 'call.started', turn: 1, kind: 'tool' },
  { seq: 5, time: 5, type: 'call.ended', turn: 1, kind: 'tool', cause: 4, flags: columnFlags.error },
  { seq: 6, time: 6, type: 'call.started', turn: 2, kind: 'model' },
  { seq: 7, time: 7, type: 'run.ended', turn: 2, flags: columnFlags.error },
]);

test('a step goes to the next event of its kind, or nowhere', () => {
  expect([stepFrom(index, 1, 'event', 1), stepFrom(index, 7, 'event', 1), stepFrom(index, 1, 'event', -1)]).toEqual([
    2,
    undefined,
    undefined,
  ]);
  expect([stepFrom(index, 2, 'model', 1), stepFrom(index, 6, 'model', -1), stepFrom(index, 6, 'model', 1)]).toEqual([
    6,
    2,
    undefined,
  ]);
  expect([stepFrom(index, 1, 'error', 1), stepFrom(index, 5, 'error', 1), stepFrom(index, 7, 'error', -1)]).toEqual([
    5, 7, 5,
  ]);
  expect([stepFrom(index, 3, 'turn', 1), stepFrom(index, 7, 'turn', -1)]).toEqual([6, 2]);
});

test('a step passes over events that are not shown', () => {
  expect(stepFrom(index, 1, 'event', 1, (seq) => seq > 3)).toBe(4);
});

test('a session opens at its first error, else at its head', () => {
  expect(openingSeq(index)).toBe(5);
  const fine = new EventIndex();
  fine.put([{ seq: 1, time: 1, type: 'run.started', turn: 0 }]);
  expect(openingSeq(fine)).toBe(1);
});
