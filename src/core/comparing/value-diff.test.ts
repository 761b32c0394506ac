import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../canonical-json.ts';
import type { JsonValue } from '../json.ts';
import { limits } from '../limits.ts';
import { diffValues, pathText } from './value-diff.ts';

function shape(left: JsonValue, right: JsonValue): Record<string, unknown> {
  const { added, removed, changed } = diffValues(left, right);
  return {
    added: added.map(({ path, value }) => [pathText(path), value]),
    removed: removed.map(({ path, value }) => [pathText(path), value]),
    changed: changed.map((one) => [pathText(one.path), one.left, one.right]),
  };
}

describe('diffValues()', () => {
  test('finds what was added, removed and changed, however deep', () => {
    expect(shape({ a: 1, b: { c: [1], d: 2 }, e: null }, { a: 2, b: { c: [1], f: {} }, e: null })).toEqual({
      added: [['b.f', {}]],
      removed: [['b.d', 2]],
      changed: [['a', 1, 2]],
    });
  });

  test('an item put in front is one addition', () => {
    expect(shape(['a', 'b'], ['x', 'a', 'b'])).toEqual({ added: [['[0]', 'x']], removed: [], changed: [] });
  });

  test('an item that changed in place is compared from inside', () => {
    const left = [
      { id: 1, text: 'a' },
      { id: 2, text: 'b' },
    ];
    const right = [{ id: 0 }, { id: 1, text: 'a' }, { id: 2, text: 'c' }];
    const diff = diffValues(left, right);
    expect(diff.changed).toEqual([{ path: [2, 'text'], leftPath: [1, 'text'], left: 'b', right: 'c' }]);
    expect(diff.added.map(({ path }) => path)).toEqual([[0]]);
  });

  test('null, a missing key and an empty object are three things', () => {
    expect(shape({ a: null }, {})).toMatchObject({ removed: [['a', null]] });
    expect(shape({ a: null }, { a: {} })).toMatchObject({ changed: [['a', null, {}]] });
  });

  test('another type is a change', () => {
    expect(shape({ a: [1] }, { a: { 0: 1 } })).toMatchObject({ changed: [['a', [1], { 0: 1 }]] });
  });

  test('keys like __proto__ are ordinary', () => {
    const odd = JSON.parse('{"__proto__": 1, "10": 2}') as JsonValue;
    expect(shape({}, odd)).toMatchObject({
      added: expect.arrayContaining([
        ['__proto__', 1],
        ['["10"]', 2],
      ]) as unknown,
    });
  });

  test('very long arrays are compared by index', () => {
    const long = Array.from({ length: limits.diffItemsMax }, (_, index) => index);
    expect(diffValues(long, [...long, 1]).added).toEqual([{ path: [long.length], value: 1 }]);
  });
});

describe('pathText()', () => {
  test.each([
    [[], ''],
    [['a', 'b', 2, 'c'], 'a.b[2].c'],
    [[0, 'x'], '[0].x'],
    [['odd key', 'a.b'], '["odd key"]["a.b"]'],
  ])('%j is %s', (path, text) => {
    expect(pathText(path)).toBe(text);
  });
});

const value = fc
  .jsonValue({ maxDepth: 3 })
  .map((one) => JSON.parse(JSON.stringify(one)) as JsonValue)
  .filter((one) => !/\d{16}/.test(JSON.stringify(one)));

describe('laws', () => {
  test('values are identical exactly when their canonical texts are', () => {
    fc.assert(
      fc.property(value, value, (left, right) => {
        expect(diffValues(left, right).identical).toBe(canonicalJson(left) === canonicalJson(right));
        expect(diffValues(left, structuredClone(left) as JsonValue).identical).toBe(true);
      }),
    );
  });

  test('every path leads to the value it names', () => {
    const at = (root: JsonValue, path: readonly (string | number)[]): unknown =>
      path.reduce<unknown>((held, name) => (held as Record<string | number, unknown>)[name], root);
    fc.assert(
      fc.property(value, value, (left, right) => {
        const { added, removed, changed } = diffValues(left, right);
        for (const one of added) expect(at(right, one.path)).toEqual(one.value);
        for (const one of removed) expect(at(left, one.path)).toEqual(one.value);
        for (const one of changed) {
          expect(at(right, one.path)).toEqual(one.right);
          expect(at(left, one.leftPath ?? one.path)).toEqual(one.left);
        }
      }),
    );
  });
});
