import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { comparePasses, fisherExact, holm, wilsonInterval } from './statistics.ts';

describe('wilsonInterval()', () => {
  // The worked examples of Newcombe (Statistics in Medicine 17, 1998, table I), which has four digits, and the ends.
  const known: readonly (readonly [number, number, number, number])[] = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
    [20, 20, 0.8389, 1],
    [5, 10, 0.2366, 0.7634],
  ];
  test.each(known)('%i of %i lies between %f and %f', (passed, of, low, high) => {
    const interval = wilsonInterval({ passed, of });
    expect(interval?.low).toBeCloseTo(low, 4);
    expect(interval?.high).toBeCloseTo(high, 4);
  });

  test('nothing tried says nothing', () => {
    expect(wilsonInterval({ passed: 0, of: 0 })).toBeUndefined();
  });

  test('the share lies in its interval, which mirrors that of the failures', () => {
    fc.assert(
      fc.property(fc.nat(400), fc.nat(400), (a, b) => {
        const [passed, of] = [Math.min(a, b), Math.max(a, b, 1)];
        const interval = wilsonInterval({ passed, of });
        const mirrored = wilsonInterval({ passed: of - passed, of });
        if (interval === undefined || mirrored === undefined) throw new Error('no interval');
        expect(interval.low).toBeLessThanOrEqual(interval.rate);
        expect(interval.high).toBeGreaterThanOrEqual(interval.rate);
        expect(interval.low).toBeCloseTo(1 - mirrored.high, 9);
      }),
    );
  });
});

describe('fisherExact()', () => {
  const known: readonly (readonly [string, number, number, number, number, number])[] = [
    ["Fisher's tea: 3 of 4 and 1 of 4", 3, 4, 1, 4, 0.485_714_285_714_285_7],
    ['4 of 4 and 0 of 4', 4, 4, 0, 4, 0.028_571_428_571_428_57],
    ['3 of 3 and 0 of 3', 3, 3, 0, 3, 0.1],
    ['5 of 5 and 1 of 5', 5, 5, 1, 5, 0.047_619_047_619_047_62],
    ['1 of 10 and 11 of 14', 1, 10, 11, 14, 0.002_759_456_185_220_088],
    ['7 of 12 and 7 of 12', 7, 12, 7, 12, 1],
  ];
  test.each(known)('%s', (_title, a, ofA, b, ofB, expected) => {
    expect(fisherExact({ passed: a, of: ofA }, { passed: b, of: ofB })).toBeCloseTo(expected, 10);
    expect(fisherExact({ passed: b, of: ofB }, { passed: a, of: ofA })).toBeCloseTo(expected, 10);
  });

  test('stays a probability for hundreds of repeats', () => {
    expect(fisherExact({ passed: 400, of: 800 }, { passed: 401, of: 800 })).toBeCloseTo(1, 6);
    expect(fisherExact({ passed: 0, of: 800 }, { passed: 800, of: 800 })).toBeLessThan(1e-200);
  });
});

test('holm() corrects as Holm does, in the order given', () => {
  expect(holm([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06]);
  expect(holm([0.9, 0.8])).toEqual([1, 1]);
  expect(holm([])).toEqual([]);
});

describe('comparePasses()', () => {
  const verdicts = (...counts: [number, number][]): string[] =>
    comparePasses(counts.map(([passed, of]) => ({ passed, of }))).map(({ verdict }) => verdict);

  test('tells a difference from flapping', () => {
    expect(verdicts([5, 5], [0, 5])).toEqual(['baseline', 'worse']);
    expect(verdicts([0, 5], [5, 5])).toEqual(['baseline', 'better']);
    expect(verdicts([3, 5], [4, 5])).toEqual(['baseline', 'undecided']);
  });

  test('three repeats cannot tell anything', () => {
    expect(verdicts([3, 3], [0, 3])).toEqual(['baseline', 'undecided']);
  });

  test('what is enough for one comparison is not for many', () => {
    expect(verdicts([4, 4], [0, 4])).toEqual(['baseline', 'worse']);
    expect(verdicts([4, 4], [0, 4], [4, 4], [4, 4])).toEqual(['baseline', 'undecided', 'undecided', 'undecided']);
  });

  test('without checks nothing is compared', () => {
    expect(verdicts([0, 0], [0, 0])).toEqual(['unchecked', 'unchecked']);
    expect(verdicts([2, 2], [0, 0])).toEqual(['baseline', 'unchecked']);
    expect(comparePasses([])).toEqual([]);
  });
});
