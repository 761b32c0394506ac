import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '../canonical-json.ts';
import type { JsonObject } from '../json.ts';
import { limits } from '../limits.ts';
import { recordable } from './recordable.ts';

const valueOf = (value: unknown): unknown => recordable(value).value;

test('recordable() leaves JSON as it is, as a copy', () => {
  const value = JSON.parse(
    '{"10":1,"__proto__":{"x":[]},"n":null,"s":"é😀","deep":[[{"k":[null,true]}]]}',
  ) as JsonObject;
  const copy = valueOf(value);
  expect(canonicalJson(copy)).toBe(canonicalJson(value));
  expect(copy).not.toBe(value);
  expect((copy as JsonObject)['deep']).not.toBe(value['deep']);
});

test('recordable() turns what JSON has no form for into text that says what it was', () => {
  class Order {
    readonly id = 7;
    readonly #secret = 'no';
    get hidden(): string {
      return this.#secret;
    }
  }
  const cases: readonly [unknown, unknown][] = [
    [new Date('2026-11-15T10:00:00Z'), '2026-11-15T10:00:00.000Z'],
    [new Date(Number.NaN), '[invalid date]'],
    [12n, '12'],
    [2 ** 60, '1152921504606846976'],
    [Number.NaN, '[NaN]'],
    [Number.NEGATIVE_INFINITY, '[-Infinity]'],
    [Symbol('why'), '[Symbol(why)]'],
    [function lookUp() {}, '[function lookUp]'],
    [() => 1, '[function without a name]'],
    [new Uint8Array(12), '[Uint8Array of 12 bytes]'],
    [Buffer.from('abc'), '[Buffer of 3 bytes]'],
    [new ArrayBuffer(4), '[ArrayBuffer of 4 bytes]'],
    [Promise.resolve(1), '[Promise]'],
    [new Set([1, undefined]), [1, null]],
    [new Map([['a', { b: 1 }]]), [['a', { b: 1 }]]],
    [/a+/g, '/a+/g'],
    [new URL('https://example.com/a'), 'https://example.com/a'],
    [new Order(), { id: 7 }],
    ['\ud800', '\ufffd'],
    [
      [1, undefined, () => 1],
      [1, null, '[function without a name]'],
    ],
    [{ a: undefined, b: null }, { b: null }],
    [
      Object.assign(new TypeError('no'), { code: 'E_NO', status: 429 }),
      { name: 'TypeError', message: 'no', code: 'E_NO', status: 429 },
    ],
  ];
  for (const [value, expected] of cases) expect(valueOf({ value })).toEqual({ value: expected });
  expect(valueOf(undefined)).toBeUndefined();
});

test('recordable() of a value that contains itself names the place; the same value twice is no circle', () => {
  const cyclic: Record<string, unknown> = { list: [] };
  (cyclic['list'] as unknown[]).push(cyclic);
  expect(valueOf(cyclic)).toEqual({ list: ['[circular]'] });
  const shared = { a: 1 };
  expect(valueOf([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
});

test('recordable() survives objects that cannot be read', () => {
  const throws = Object.defineProperty({ a: 1 }, 'b', {
    enumerable: true,
    get: () => {
      throw new Error('no');
    },
  });
  expect(valueOf(throws)).toEqual({ a: 1, b: '[unreadable property]' });
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  expect(valueOf({ proxy })).toEqual({ proxy: '[unreadable object]' });
  expect(
    valueOf({
      toJSON: () => {
        throw new Error('no');
      },
    }),
  ).toBe('[unreadable object]');
});

test('recordable() ends where nesting becomes too deep, and the rest can be stored', () => {
  let value: unknown = 'end';
  for (let depth = 0; depth < 10_000; depth++) value = [value];
  const text = canonicalJson({ value: valueOf(value) });
  expect(text).toContain('[nested too deeply]');
});

test('recordable() gives up on a value that no append could hold', () => {
  const big = 'x'.repeat(limits.appendBytesMax / 4);
  expect(() => recordable([big, big, big, big])).toThrow(/appendBytesMax/);
});

test('recordable() of any value is JSON', () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
      (value) => {
        canonicalJson({ value: valueOf(value) });
      },
    ),
  );
});
