import { expect, test } from 'vitest';
import type { Event } from '../core/event/event.ts';
import { project } from '../core/event/projection.ts';
import type { JsonObject } from '../core/json.ts';
import { state } from './state.ts';

let seq = 0;
const committed = (...operations: JsonObject[]): Event =>
  ({ type: 'state.committed', seq: ++seq, turn: 0, version: 1, data: { operations } }) as unknown as Event;
const write = (agent: string, key: string, value: unknown, version = 1): JsonObject =>
  ({ agent, key, op: 'write', value, version }) as JsonObject;

test('the last write of each key stands, by agent, with its version and seq', () => {
  seq = 0;
  const value = project(state, [
    committed(write('a', 'plan', 'ask'), write('b', 'plan', null)),
    committed(write('a', 'plan', { next: 'pay' }, 2)),
  ]);
  expect(value).toEqual({
    a: { plan: { value: { next: 'pay' }, version: 2, seq: 2 } },
    b: { plan: { value: null, version: 1, seq: 1 } },
  });
});

test('a deleted key is gone, and an agent without keys too', () => {
  const value = project(state, [
    committed(write('a', 'x', 1), write('a', 'y', 2), write('b', 'x', 3)),
    committed({ agent: 'a', key: 'x', op: 'delete', version: 2 }, { agent: 'b', key: 'x', op: 'delete', version: 2 }),
    committed({ agent: 'c', key: 'never', op: 'delete', version: 1 }),
  ]);
  expect(Object.keys(value)).toEqual(['a']);
  expect(Object.keys(value['a'] ?? {})).toEqual(['y']);
});

test('keys like "10" and "__proto__" are keys, and what is erased or not a write changes nothing', () => {
  const value = project(state, [
    committed(write('__proto__', '__proto__', 1), write('a', '10', 2)),
    { type: 'state.committed', seq: 9, turn: 0, version: 1, data: { erased: true }, erased: true } as unknown as Event,
    {
      type: 'note.added',
      seq: 10,
      turn: 0,
      version: 1,
      data: { operations: [write('z', 'z', 1)] },
    } as unknown as Event,
  ]);
  expect(JSON.stringify(value)).toMatch(/^\{"__proto__":\{"__proto__":\{"value":1.*"a":\{"10"/);
});
