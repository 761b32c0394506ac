import { assert } from '../error.ts';
import { itemAt } from '../item-at.ts';

/** How many of several tries passed. */
export interface PassCount {
  readonly passed: number;
  readonly of: number;
}

/** A rate, and the range that contains the true rate in 95 of 100 experiments. */
export interface PassInterval {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** The quantile of the normal distribution that leaves 2.5 % on either side. */
const z95 = 1.959_963_984_540_054;

/**
 * Returns the Wilson score interval of a rate at 95 %; undefined if nothing was tried. Unlike the textbook interval, it
 * is right for few repeats and does not collapse to a point when everything passed.
 */
export function wilsonInterval({ passed, of }: PassCount): PassInterval | undefined {
  if (of === 0) return undefined;
  assert(passed >= 0 && passed <= of, 'a pass count lies between 0 and the number of tries');
  const rate = passed / of;
  const z2 = z95 * z95;
  const centre = (rate + z2 / (2 * of)) / (1 + z2 / of);
  const half = (z95 / (1 + z2 / of)) * Math.sqrt((rate * (1 - rate)) / of + z2 / (4 * of * of));
  // At the ends the formula returns 0 and 1 apart from rounding.
  return {
    rate,
    low: passed === 0 ? 0 : Math.max(0, centre - half),
    high: passed === of ? 1 : Math.min(1, centre + half),
  };
}

/**
 * Returns the p-value of Fisher's exact test, two-sided: how probable counts at least this far apart are if both sides
 * pass equally often. It is exact for any number of repeats, and never too sure.
 */
export function fisherExact(a: PassCount, b: PassCount): number {
  const passed = a.passed + b.passed;
  const low = Math.max(0, passed - b.of);
  const high = Math.min(a.of, passed);
  const logs = logFactorials(a.of + b.of);
  const choose = (n: number, k: number): number => itemAt(logs, n) - itemAt(logs, k) - itemAt(logs, n - k);
  const all = choose(a.of + b.of, passed);
  const chance = (k: number): number => Math.exp(choose(a.of, k) + choose(b.of, passed - k) - all);
  const seen = chance(a.passed);
  let sum = 0;
  // Tables as probable as the observed one must count, even if rounding makes them differ a little.
  for (let k = low; k <= high; k++) if (chance(k) <= seen * (1 + 1e-7)) sum += chance(k);
  return Math.min(1, sum);
}

function logFactorials(through: number): number[] {
  const logs = [0];
  for (let n = 1; n <= through; n++) logs.push(itemAt(logs, n - 1) + Math.log(n));
  return logs;
}

/** Applies Holm's correction: several comparisons then find a false difference no more often than one does. */
export function holm(chances: readonly number[]): number[] {
  const order = chances.map((_, index) => index).sort((a, b) => itemAt(chances, a) - itemAt(chances, b));
  const corrected = chances.map(() => 1);
  let least = 0;
  for (const [rank, index] of order.entries()) {
    least = Math.max(least, Math.min(1, itemAt(chances, index) * (chances.length - rank)));
    corrected[index] = least;
  }
  return corrected;
}

/**
 * The result of a comparison with the first variant. `undecided` means that chance alone explains the difference well
 * enough: the next experiment may not show it. `tooFew` means that no result of so few tries could decide.
 */
export type Verdict = 'baseline' | 'better' | 'worse' | 'undecided' | 'tooFew' | 'unchecked';

/** A comparison with the baseline. */
export interface PassComparison {
  readonly verdict: Verdict;
  /** How probable a difference this large is by chance, corrected for all comparisons; null if none was made. */
  readonly chance: number | null;
  /** With `tooFew`: how many tries of each variant, or how many sessions, could decide; null otherwise. */
  readonly needed: number | null;
}

/** A difference counts as real if chance is less probable than this. */
const significance = 0.05;

const unchecked: PassComparison = { verdict: 'unchecked', chance: null, needed: null };

/** Compares pass counts with those of the first. */
export function comparePasses(counts: readonly PassCount[]): PassComparison[] {
  const [baseline, ...others] = counts;
  if (baseline === undefined) return [];
  const isChecked = (count: PassCount): boolean => count.of > 0 && baseline.of > 0;
  const checked = others.filter(isChecked);
  const chances = holm(checked.map((count) => fisherExact(baseline, count)));
  const extreme = (a: number, b: number): number =>
    fisherExact({ passed: 0, of: a }, { passed: b, of: b }) * checked.length;
  let next = 0;
  const compared = others.map((count): PassComparison => {
    if (!isChecked(count)) return unchecked;
    const chance = itemAt(chances, next++);
    if (chance < significance) return { verdict: isHigher(count, baseline) ? 'better' : 'worse', chance, needed: null };
    if (extreme(baseline.of, count.of) < significance) return { verdict: 'undecided', chance, needed: null };
    return { verdict: 'tooFew', chance, needed: fewest((tries) => extreme(tries, tries)) };
  });
  return [baselineOf(baseline.of), ...compared];
}

const isHigher = (a: PassCount, b: PassCount): boolean => a.passed / a.of > b.passed / b.of;

const baselineOf = (tries: number): PassComparison =>
  tries === 0 ? unchecked : { verdict: 'baseline', chance: null, needed: null };

/** Returns the smallest number of tries whose most extreme result could decide. */
function fewest(extreme: (tries: number) => number): number {
  let tries = 1;
  while (extreme(tries) >= significance) tries++;
  return tries;
}

/** In how many pairs the second side was higher, lower, and equal. */
export interface PairCount {
  readonly better: number;
  readonly worse: number;
  readonly equal: number;
}

/**
 * Returns the p-value of the exact sign test, two-sided: how probable it is that one side of pairs wins this often if both
 * are equally good. Pairs that are equal do not count. With one pass or failure per side, this is McNemar's exact test.
 */
export function signTest({ better, worse }: PairCount): number {
  const pairs = better + worse;
  const logs = logFactorials(pairs);
  let sum = 0;
  for (let wins = 0; wins <= Math.min(better, worse); wins++)
    sum += Math.exp(itemAt(logs, pairs) - itemAt(logs, wins) - itemAt(logs, pairs - wins) - pairs * Math.LN2);
  return Math.min(1, 2 * sum);
}

/** Compares each count of pairs with chance; the counts are comparisons of one experiment, and are corrected together. */
export function comparePairs(counts: readonly PairCount[]): PassComparison[] {
  const isCompared = ({ better, worse, equal }: PairCount): boolean => better + worse + equal > 0;
  const compared = counts.filter(isCompared);
  const chances = holm(compared.map(signTest));
  const extreme = (pairs: number): number => signTest({ better: pairs, worse: 0, equal: 0 }) * compared.length;
  let next = 0;
  return counts.map((count): PassComparison => {
    if (!isCompared(count)) return unchecked;
    const { better, worse, equal } = count;
    const chance = itemAt(chances, next++);
    if (chance < significance) return { verdict: better > worse ? 'better' : 'worse', chance, needed: null };
    if (extreme(better + worse + equal) < significance) return { verdict: 'undecided', chance, needed: null };
    return { verdict: 'tooFew', chance, needed: fewest(extreme) };
  });
}

/** A mean, and the range that contains the true mean in 95 of 100 experiments; null ends if one value cannot tell. */
export interface MeanInterval {
  readonly mean: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly count: number;
}

/** Returns the mean of values with Student's interval at 95 %; undefined if there are none. */
export function meanInterval(values: readonly number[]): MeanInterval | undefined {
  const count = values.length;
  if (count === 0) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  if (count === 1) return { mean, low: null, high: null, count };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const half = t95(count - 1) * Math.sqrt(squares / (count - 1) / count);
  return { mean, low: mean - half, high: mean + half, count };
}

/** The quantiles of Student's distribution that leave 2.5 % on either side, by degrees of freedom from 1. */
const t95Table: readonly number[] = [
  12.7062, 4.302_65, 3.182_45, 2.776_45, 2.570_58, 2.446_91, 2.364_62, 2.306, 2.262_16, 2.228_14,
];

/** Returns that quantile; beyond the table by the expansion of Cornish and Fisher, which is right to four digits. */
function t95(freedom: number): number {
  const known = t95Table[freedom - 1];
  if (known !== undefined) return known;
  const z3 = z95 ** 3;
  const z5 = z95 ** 5;
  const z7 = z95 ** 7;
  return (
    z95 +
    (z3 + z95) / (4 * freedom) +
    (5 * z5 + 16 * z3 + 3 * z95) / (96 * freedom ** 2) +
    (3 * z7 + 19 * z5 + 17 * z3 - 15 * z95) / (384 * freedom ** 3)
  );
}
