import { describe, expect, test } from 'vitest';
import { arrayAt, booleanAt, given, type JsonObject, numberAt, objectAt, stringAt } from './json.ts';

const data: JsonObject = { text: 'a', count: 0, done: false, inner: { text: 'b' }, items: [1, 2], none: null };

describe('typed readers', () => {
  test('return the value under a key if it has their type', () => {
    expect(stringAt(data, 'text')).toBe('a');
    expect(numberAt(data, 'count')).toBe(0);
    expect(booleanAt(data, 'done')).toBe(false);
    expect(objectAt(data, 'inner')).toEqual({ text: 'b' });
    expect(arrayAt(data, 'items')).toEqual([1, 2]);
    expect(stringAt(objectAt(data, 'inner'), 'text')).toBe('b');
  });

  test('return undefined for a value of a different type, a missing key, and anything but an object', () => {
    for (const read of [stringAt, numberAt, booleanAt, objectAt, arrayAt]) {
      expect(read(data, 'none')).toBeUndefined();
      expect(read(data, 'missing')).toBeUndefined();
      expect(read(data, 'constructor')).toBeUndefined();
      expect(read(undefined, 'text')).toBeUndefined();
      expect(read(['text'], '0')).toBeUndefined();
    }
    expect(stringAt(data, 'count')).toBeUndefined();
    expect(objectAt(data, 'items')).toBeUndefined();
    expect(arrayAt(data, 'inner')).toBeUndefined();
  });
});

describe('given()', () => {
  test('keeps every field that is not undefined, null and false included', () => {
    expect(given({ a: undefined, b: null, c: false, d: 0 })).toEqual({ b: null, c: false, d: 0 });
  });
});
