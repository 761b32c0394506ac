import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  comparePairs,
  comparePasses,
  fisherExact,
  holm,
  meanInterval,
  signTest,
  wilsonInterval,
} from './statistics.ts';

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

  test('three repeats cannot tell anything: it says how many can', () => {
    expect(
      comparePasses([
        { passed: 3, of: 3 },
        { passed: 0, of: 3 },
      ])[1],
    ).toMatchObject({ verdict: 'tooFew', needed: 4 });
  });

  test('what is enough for one comparison is not for many', () => {
    expect(verdicts([4, 4], [0, 4])).toEqual(['baseline', 'worse']);
    expect(verdicts([4, 4], [0, 4], [4, 4], [4, 4])).toEqual(['baseline', 'tooFew', 'tooFew', 'tooFew']);
    const counts = [4, 0, 4, 4].map((passed) => ({ passed, of: 4 }));
    expect(comparePasses(counts).map(({ needed }) => needed)).toEqual([null, 5, 5, 5]);
  });

  test('without checks nothing is compared', () => {
    expect(verdicts([0, 0], [0, 0])).toEqual(['unchecked', 'unchecked']);
    expect(verdicts([2, 2], [0, 0])).toEqual(['baseline', 'unchecked']);
    expect(comparePasses([])).toEqual([]);
  });
});

describe('signTest()', () => {
  // The tails of the binomial distribution with one half: 2 × 1/2^6, 2 × 11/1024, 2 × 4017/2^16 and so on.
  const known: readonly (readonly [number, number, number])[] = [
    [6, 0, 0.031_25],
    [5, 0, 0.0625],
    [9, 1, 0.021_484_375],
    [12, 4, 0.076_812_744_140_625],
    [5, 5, 1],
    [0, 0, 1],
  ];
  test.each(known)('%i better and %i worse', (better, worse, expected) => {
    expect(signTest({ better, worse, equal: 3 })).toBeCloseTo(expected, 12);
    expect(signTest({ better: worse, worse: better, equal: 0 })).toBeCloseTo(expected, 12);
  });

  test('stays a probability for thousands of pairs', () => {
    expect(signTest({ better: 5000, worse: 5000, equal: 0 })).toBeCloseTo(1, 9);
    expect(signTest({ better: 5000, worse: 4000, equal: 0 })).toBeLessThan(1e-20);
  });
});

describe('comparePairs()', () => {
  test('decides where chance cannot, and says how many sessions it needs', () => {
    expect(comparePairs([{ better: 6, worse: 0, equal: 4 }])[0]).toMatchObject({ verdict: 'better', needed: null });
    expect(comparePairs([{ better: 1, worse: 9, equal: 0 }])[0]).toMatchObject({ verdict: 'worse' });
    expect(comparePairs([{ better: 5, worse: 4, equal: 0 }])[0]).toMatchObject({ verdict: 'undecided', needed: null });
    expect(comparePairs([{ better: 5, worse: 0, equal: 0 }])[0]).toMatchObject({ verdict: 'tooFew', needed: 6 });
    expect(comparePairs([{ better: 0, worse: 0, equal: 0 }])[0]).toMatchObject({ verdict: 'unchecked', chance: null });
  });

  test('corrects for all comparisons of an experiment', () => {
    const counts = [6, 0, 0].map((better) => ({ better, worse: 0, equal: 6 - better }));
    expect(comparePairs(counts).map(({ verdict, needed }) => [verdict, needed])).toEqual([
      ['tooFew', 7],
      ['tooFew', 7],
      ['tooFew', 7],
    ]);
  });
});

describe('meanInterval()', () => {
  test('is the interval of Student', () => {
    // The standard deviation of 1 … 5 is 1.5811, its standard error 0.7071, and t is 2.7764.
    const { mean, low, high } = meanInterval([1, 2, 3, 4, 5]) ?? {};
    expect([mean, low, high]).toEqual([3, expect.closeTo(1.0368, 4), expect.closeTo(4.9632, 4)]);
    expect(meanInterval([])).toBeUndefined();
    expect(meanInterval([2])).toEqual({ mean: 2, low: null, high: null, count: 1 });
    expect(meanInterval([2, 2])).toMatchObject({ low: 2, high: 2 });
  });

  // Quantiles of the t distribution: 11, 20, 30 and 120 degrees of freedom.
  test.each([
    [12, 2.200_99],
    [21, 2.085_96],
    [31, 2.042_27],
    [121, 1.979_93],
  ])('has the right quantile for %i values', (count, t) => {
    const values = Array.from({ length: count }, (_, index) => index);
    const { mean = 0, high } = meanInterval(values) ?? {};
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1));
    expect(((high ?? 0) - mean) / (deviation / Math.sqrt(count))).toBeCloseTo(t, 3);
  });
});
