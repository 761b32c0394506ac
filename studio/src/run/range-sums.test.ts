import { expect, test } from 'vitest';
import { columnFlags } from '../../../src/core/session/event-columns.ts';
import { EventIndex } from '../history/event-index.ts';
import { sumsOf } from './range-sums.ts';

const { call, end, error } = columnFlags;
const index = new EventIndex();
index.put([
  { seq: 1, time: 0, type: 'run.started', turn: 0 },
  { seq: 2, time: 100, type: 'call.started', turn: 0, kind: 'model', flags: call },
  {
    seq: 3,
    time: 400,
    type: 'call.ended',
    turn: 0,
    kind: 'model',
    began: 2,
    flags: call | end,
    latencyMs: 300,
    inputTokens: 10,
    outputTokens: 2,
    cost: 0.5,
  },
  { seq: 4, time: 1_400, type: 'call.started', turn: 0, kind: 'tool', flags: call },
  {
    seq: 5,
    time: 1_450,
    type: 'call.ended',
    turn: 0,
    kind: 'tool',
    began: 4,
    flags: call | end | error,
    latencyMs: 50,
  },
]);

test('a stretch is added up: calls, tokens, cost, time in models, in tools, idle', () => {
  expect(sumsOf(index, [1, 5])).toEqual({
    events: 5,
    calls: 2,
    errors: 1,
    inputTokens: 10,
    outputTokens: 2,
    cost: 0.5,
    modelMs: 300,
    toolMs: 50,
    idleMs: 1_100,
  });
  expect(sumsOf(index, [4, 9])).toMatchObject({ events: 2, calls: 1, cost: undefined, idleMs: 0 });
});
