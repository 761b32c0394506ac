import { expect, test } from 'vitest';
import { canonicalJson } from '../core/canonical-json.ts';
import { type Event, erasedData } from '../core/event/event.ts';
import { project } from '../core/event/projection.ts';
import type { JsonObject } from '../core/json.ts';
import type { Digest, Seq } from '../core/point.ts';
import { metadata } from './metadata.ts';

function event(type: string, data: JsonObject, more: Partial<Event> = {}): Event {
  const base = {
    session: 's',
    branch: 'main',
    seq: 1 as Seq,
    id: 'e',
    time: '',
    version: 1,
    turn: 0,
    digest: '' as Digest,
  };
  return { ...base, type, data, ...more };
}

const changed = (set: JsonObject): Event => event('metadata.changed', { set });

test('later changes overlay earlier ones, and null removes a key', () => {
  expect(project(metadata, [changed({ a: 1, b: { c: 1 }, d: 1 }), changed({ b: { e: 2 }, a: null })])).toEqual({
    b: { e: 2 },
    d: 1,
  });
});

test('a fork begins with the metadata it carries', () => {
  const forked = event('branch.forked', { parent: { seq: 1, digest: 'x' }, metadata: { b: 2 } });
  expect(project(metadata, [changed({ a: 1 }), forked, changed({ c: 3 })])).toEqual({ b: 2, c: 3 });
});

test('a fork without metadata keeps what its parent had', () => {
  expect(project(metadata, [changed({ a: 1 }), event('branch.forked', { parent: { seq: 1, digest: 'x' } })])).toEqual({
    a: 1,
  });
});

test('it is folded over raw history, where forks are', () => {
  expect(metadata.history).toBe('raw');
});

test('odd keys are ordinary, and what it is given is not changed', () => {
  const set = JSON.parse('{"__proto__": {"x": 1}, "10": 2}') as JsonObject;
  const value = project(metadata, [changed(set), changed({ y: 1 })]);
  expect(canonicalJson(value)).toBe('{"10":2,"__proto__":{"x":1},"y":1}');
  expect(canonicalJson(set)).toBe('{"10":2,"__proto__":{"x":1}}');
});

test('an erased change sets nothing, and other events do not matter', () => {
  const erased = event('metadata.changed', erasedData, { erased: true });
  expect(project(metadata, [changed({ a: 1 }), erased, event('note.added', { set: { a: 2 } })])).toEqual({ a: 1 });
});
