import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, copyJson, orderedJson, parseJson, sameJson } from './canonical-json.ts';
import { RepriseError } from './error.ts';
import type { JsonValue } from './json.ts';
import { limits } from './limits.ts';

const json = fc.jsonValue({ maxDepth: 5 }).filter(isExact) as fc.Arbitrary<JsonValue>;
const oddKeys = fc.dictionary(
  fc.constantFrom('10', '9', '__proto__', 'constructor', '', 'é', '😀', '\u{ffff}', 'a'),
  json,
);

/** Integers beyond 2^53 are refused, so they are not among the values that must come back. */
function isExact(value: unknown): boolean {
  if (typeof value === 'number')
    return !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21;
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isExact);
}

const codeOf = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof RepriseError ? error.code : String(error);
  }
};

describe('canonicalJson()', () => {
  it('I10 gives the bytes of RFC 8785 for any JSON value, as an independent implementation does', () => {
    fc.assert(
      fc.property(fc.oneof(json, oddKeys as fc.Arbitrary<JsonValue>), (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
    );
  });

  it('I10 gives back the same value when it is parsed again', () => {
    fc.assert(
      fc.property(oddKeys, (value) => {
        expect(JSON.stringify(JSON.parse(canonicalJson(value)))).toBe(
          JSON.stringify(JSON.parse(canonicalize(value) as string)),
        );
      }),
    );
  });

  it('does not depend on the order in which keys were set', () => {
    expect(canonicalJson({ b: 1, a: { d: 1, c: 2 } })).toBe(canonicalJson({ a: { c: 2, d: 1 }, b: 1 }));
    expect(canonicalJson({ '10': 1, '9': 2 })).toBe('{"10":1,"9":2}');
  });

  it.each([
    [Number.NaN, 'json.not-json'],
    [undefined, 'json.not-json'],
    [Symbol('x'), 'json.not-json'],
    [{ a: [1, undefined] }, 'json.not-json'],
    [new Date(0), 'json.not-json'],
    [Object.create({ inherited: 1 }), 'json.not-json'],
    [2 ** 53, 'json.unsafe-number'],
    [-(2 ** 60), 'json.unsafe-number'],
    ['\udc00', 'json.lone-surrogate'],
    [{ a: { '\ud800': 1 } }, 'json.lone-surrogate'],
  ])('refuses %o with %s', (value, code) => {
    expect(codeOf(() => canonicalJson(value))).toBe(code);
  });

  it('takes large numbers that JSON writes with an exponent, and null-prototype objects', () => {
    expect(canonicalJson(1e21)).toBe('1e+21');
    expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
  });

  it('I9 stops at the named depth, whether it is a bomb or a circle', () => {
    let bomb: JsonValue = [];
    for (let depth = 0; depth < 100_000; depth++) bomb = [bomb];
    expect(codeOf(() => canonicalJson(bomb))).toBe('json.too-deep');
    const circle: unknown[] = [];
    circle.push({ circle });
    expect(codeOf(() => canonicalJson(circle))).toBe('json.cyclic');
    let fits: JsonValue = 1;
    for (let depth = 0; depth < limits.jsonDepthMax; depth++) fits = [fits];
    expect(codeOf(() => canonicalJson(fits))).toBeUndefined();
  });
});

describe('orderedJson()', () => {
  it('is the text of JSON.stringify for any JSON value', () => {
    fc.assert(
      fc.property(fc.oneof(json, oddKeys as fc.Arbitrary<JsonValue>), (value) => {
        expect(orderedJson(value)).toBe(JSON.stringify(value));
      }),
    );
    expect(orderedJson({ b: undefined, a: ['\u{d800}\u{dc00}'] })).toBe('{"a":["😀"]}'.replace('😀', '\u{10000}'));
  });

  it('refuses what canonicalJson refuses, with the same code', () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    let deep: unknown = 1;
    for (let depth = 0; depth <= limits.jsonDepthMax + 1; depth++) deep = [deep];
    const holes = new Array(2);
    const written = { toJSON: () => 1 };
    const bad = [Number.NaN, undefined, 2 ** 53, new Map(), ['\udc00'], { '\ud800': 1 }, cyclic, deep, holes, written];
    for (const value of bad) {
      expect(codeOf(() => orderedJson(value))).toMatch(/^json\./);
      expect(codeOf(() => orderedJson(value))).toBe(codeOf(() => canonicalJson(value)));
    }
  });
});

describe('parseJson()', () => {
  it('I10 refuses numbers that would be rounded, and takes those that come back the same', () => {
    for (const text of [
      '12345678901234567890',
      '9007199254740993',
      '0.1000000000000000055511151231257827',
      '1e400',
      '-9007199254740993',
    ]) {
      expect(
        codeOf(() => parseJson(`{"a":[${text}]}`)),
        text,
      ).toBe('json.unsafe-number');
    }
    for (const text of ['0', '-0', '1.50', '1e3', '123e-5', '0.1', '9007199254740991', '1E+2'])
      expect(
        codeOf(() => parseJson(text)),
        text,
      ).toBeUndefined();
  });

  it('keeps __proto__ as a key, and says what is wrong with text that is not JSON', () => {
    expect(Object.hasOwn(parseJson('{"__proto__":1}') as object, '__proto__')).toBe(true);
    expect(codeOf(() => parseJson('{'))).toBe('json.not-json');
    expect(codeOf(() => parseJson('['.repeat(5000) + ']'.repeat(5000)))).toBe('json.too-deep');
  });
});

describe('sameJson() and copyJson()', () => {
  it('compare and copy by value', () => {
    fc.assert(
      fc.property(oddKeys, (value) => {
        expect(sameJson(copyJson(value), value)).toBe(true);
        expect(canonicalJson(copyJson(value))).toBe(canonicalJson(value));
      }),
    );
    const odd = { a: undefined, b: [{ c: undefined, d: -0 }], e: Object.assign(Object.create(null), { f: 1 }) };
    expect(copyJson(odd)).toStrictEqual(JSON.parse(canonicalJson(odd)));
    expect(sameJson({ a: 1 }, { a: 2 })).toBe(false);
    expect(sameJson(undefined, null)).toBe(false);
  });
});

it('reads a number of 2,000,000 digits in one pass, and refuses what it cannot carry', () => {
  expect(parseJson(`1${'0'.repeat(200)}.${'0'.repeat(2_000_000)}`)).toBe(1e200);
  expect(() => parseJson(`1${'0'.repeat(2_000_000)}1`)).toThrow(RepriseError);
});
