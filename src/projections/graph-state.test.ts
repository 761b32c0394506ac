import { expect, test } from 'vitest';
import type { Event } from '../core/event/event.ts';
import { project } from '../core/event/projection.ts';
import type { JsonObject } from '../core/json.ts';
import { graphState } from './graph-state.ts';

let seq = 0;
const event = (type: string, data: JsonObject): Event =>
  ({ type, seq: ++seq, turn: 0, version: 1, data }) as unknown as Event;
const channel = (name: string, held: JsonObject, namespace = ''): Event =>
  event('channel.saved', { namespace, channel: name, type: 'json', ...held });
const saved = (id: string, from: Record<string, string>, namespace = ''): Event =>
  event('graph.saved', {
    namespace,
    saved: id,
    changed: Object.keys(from).filter((name) => from[name] === id),
    values: Object.fromEntries(Object.entries(from).map(([name, holder]) => [name, { from: holder, version: 1 }])),
  });

test('a graph holds what its last saved state refers to', () => {
  seq = 0;
  const value = project(graphState, [
    channel('list', { items: ['1', '{"a":2}'] }),
    channel('plan', { text: '"ask"' }),
    saved('c1', { list: 'c1', plan: 'c1' }),
    channel('plan', { body: '{"next":"pay"}' }),
    channel('raw', { type: 'bytes', bytes: 'aGk=' }),
    saved('c2', { list: 'c1', plan: 'c2', raw: 'c2' }),
  ]);
  expect(value).toEqual({
    '': { id: 'c2', seq: 6, values: { list: [1, { a: 2 }], plan: { next: 'pay' }, raw: 'aGk=' } },
  });
});

test('a value without its saved state, a value of another line and a dropped channel are not there', () => {
  const value = project(graphState, [
    channel('a', { text: '1' }),
    channel('b', { text: '2' }),
    saved('c1', { a: 'c1', b: 'c1' }),
    saved('c2', { a: 'elsewhere' }),
    channel('b', { text: '3' }),
  ]);
  expect(value['']?.values).toEqual({});
});

test('messages are shown by what is in them, and text that is not JSON as it is', () => {
  const message =
    '{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"Hi"}}';
  const value = project(graphState, [
    channel('messages', { items: [message, 'no json', { erased: true }] }),
    channel('__proto__', { text: '1' }),
    saved(
      'c1',
      Object.fromEntries([
        ['messages', 'c1'],
        ['__proto__', 'c1'],
      ]),
    ),
  ]);
  expect(value['']?.values['messages']).toEqual([{ type: 'AIMessage', content: 'Hi' }, 'no json', { erased: true }]);
  expect(Object.hasOwn(value['']?.values ?? {}, '__proto__')).toBe(true);
});

test('a subgraph that was run for a task is gone when the graph around it goes on; one with a state of its own stays', () => {
  const inside = [
    channel('x', { text: '1' }, 'sub:task'),
    saved('s1', { x: 's1' }, 'sub:task'),
    channel('y', { text: '2' }, 'kept'),
    saved('k1', { y: 'k1' }, 'kept'),
  ];
  expect(Object.keys(project(graphState, inside))).toEqual(['sub:task', 'kept']);
  expect(Object.keys(project(graphState, [...inside, saved('c1', {})]))).toEqual(['kept', '']);
});

test('erased events and others change nothing', () => {
  const erased = { ...saved('c1', {}), erased: true, data: { erased: true } } as unknown as Event;
  expect(project(graphState, [erased, event('note.added', { text: 'x' })])).toEqual({});
});
