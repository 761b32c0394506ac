import { assert } from '../error.ts';
import { itemAt } from '../item-at.ts';

/** How many of several tries passed. */
export interface PassCount {
  readonly passed: number;
  readonly of: number;
}

/** A rate, and the range that holds the true rate in 95 of 100 experiments. */
export interface PassInterval {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** The quantile of the normal distribution that leaves 2.5 % on either side. */
const z95 = 1.959_963_984_540_054;

/**
 * Returns the Wilson score interval of a rate at 95 %; undefined if nothing was tried. Unlike the textbook interval, it
 * holds for few repeats and does not collapse to a point when everything passed.
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
 * The result of comparing pass counts. `undecided` means that chance alone explains the difference well enough: the next
 * experiment may not show it.
 */
export type Verdict = 'baseline' | 'better' | 'worse' | 'undecided' | 'unchecked';

/** A comparison with the baseline. */
export interface PassComparison {
  readonly verdict: Verdict;
  /** How probable counts so far apart are by chance, corrected for all comparisons; null if none was made. */
  readonly chance: number | null;
}

/** A difference counts as real if chance is less probable than this. */
const significance = 0.05;

/** Compares pass counts with those of the first. */
export function comparePasses(counts: readonly PassCount[]): PassComparison[] {
  const [baseline, ...others] = counts;
  if (baseline === undefined) return [];
  const isChecked = (count: PassCount): boolean => count.of > 0 && baseline.of > 0;
  const chances = holm(others.filter(isChecked).map((count) => fisherExact(baseline, count)));
  let next = 0;
  const compared = others.map((count): PassComparison => {
    if (!isChecked(count)) return { verdict: 'unchecked', chance: null };
    const chance = itemAt(chances, next++);
    if (chance >= significance) return { verdict: 'undecided', chance };
    return { verdict: count.passed / count.of > baseline.passed / baseline.of ? 'better' : 'worse', chance };
  });
  return [{ verdict: baseline.of === 0 ? 'unchecked' : 'baseline', chance: null }, ...compared];
}
