import { expect, test } from 'vitest';
import type { Event } from '../../core/event/event.ts';
import { limits } from '../../core/limits.ts';
import { cutValue, pointerWord, valueAtPointer } from './cut-value.ts';
import { cutEvents, gistOf, textAt } from './shown-events.ts';

const most = { text: 1_000, whole: 10_000 };

function note(seq: number, text: string): Event {
  const about = { session: 's', branch: 'main', seq, id: `e${seq}`, time: '', version: 1, turn: 0, digest: '' };
  return { ...about, type: 'note.added', data: { text } } as unknown as Event;
}

test('a small value stays as it is', () => {
  const value = { a: [1, null, 'x'], b: { c: true } };
  expect(cutValue(value, most)).toEqual({ value, cuts: [] });
});

test('a long text loses its end, never half of a character, and says where', () => {
  const text = `${'x'.repeat(999)}🙂${'y'.repeat(50)}`;
  const { value, cuts } = cutValue({ 'a/b': { 'c~d': text } }, most);
  expect(cuts).toEqual([{ path: '/a~1b/c~0d', shown: 999, length: text.length, items: false }]);
  expect(valueAtPointer(value, '/a~1b/c~0d')).toBe('x'.repeat(999));
});

test('a value with too many items loses items, and stays bounded however it is nested', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({ index, text: 'y'.repeat(100) }));
  const { value, cuts } = cutValue({ many, after: 'z' }, most);
  expect(JSON.stringify(value).length).toBeLessThan(2 * most.whole);
  expect(cuts.some(({ path, items, length }) => path === '/many' && items && length === 10_000)).toBe(true);
});

test('a key named __proto__ is a key', () => {
  const value = JSON.parse('{"__proto__": {"x": 1}}');
  expect(JSON.stringify(cutValue(value, most).value)).toBe('{"__proto__":{"x":1}}');
  expect(valueAtPointer(value, '/__proto__/x')).toBe(1);
  expect(valueAtPointer({}, '/constructor')).toBeUndefined();
  expect(pointerWord('a/~b')).toBe('a~1~0b');
});

test('events end at "shownBytesMax", and at least one comes', () => {
  const large = 'x'.repeat(limits.shownTextMax);
  const events = Array.from({ length: 40 }, (_, index) => note(index + 1, large));
  const shown = cutEvents(events);
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.length).toBeLessThan(20);
  expect(JSON.stringify(shown.map(({ value }) => value)).length).toBeLessThan(limits.shownBytesMax * 1.1);
});

test('a stretch of a text has at most "shownStretchMax" characters, and a gist "shownGistMax"', () => {
  const event = note(1, 'x'.repeat(limits.shownStretchMax + 10));
  expect(textAt(event, '/data/text', { offset: 0, length: 0 }).text).toHaveLength(limits.shownStretchMax);
  expect(textAt(event, '/data/text', { offset: limits.shownStretchMax, length: 99 }).text).toHaveLength(10);
  expect(textAt(event, '/data', { offset: 0, length: 8 }).text).toBe('{"text":');
  expect(() => textAt(event, '/data/nothing', { offset: 0, length: 1 })).toThrow(/is not there/);
  expect(gistOf(event)).toHaveLength(limits.shownGistMax);
});

test('a key is shown whole or not at all', () => {
  const value = { a: 1, ['k'.repeat(1_000)]: 2, b: 3 };
  const cut = cutValue(value, { text: 500, whole: 10_000 });
  expect(cut).toEqual({ value: { a: 1 }, cuts: [{ path: '', shown: 1, length: 3, items: true }] });
});
