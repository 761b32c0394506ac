import { assert } from '../error.ts';

/** How often something came out well. */
export interface PassCount {
  readonly passed: number;
  readonly of: number;
}

/** A share and the range that the true one lies in, in 95 of 100 experiments. */
export interface PassInterval {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** The quantile of the normal distribution that leaves 2.5 % on either side. */
const z95 = 1.959_963_984_540_054;

/**
 * The Wilson score interval of a share at 95 %. Unlike the textbook one it holds for few repeats, and it does not
 * collapse to a point where everything passed. Undefined where nothing was tried.
 */
export function wilsonInterval({ passed, of }: PassCount): PassInterval | undefined {
  if (of === 0) return undefined;
  assert(passed >= 0 && passed <= of, 'a share lies between nothing and everything');
  const rate = passed / of;
  const z2 = z95 * z95;
  const centre = (rate + z2 / (2 * of)) / (1 + z2 / of);
  const half = (z95 / (1 + z2 / of)) * Math.sqrt((rate * (1 - rate)) / of + z2 / (4 * of * of));
  // At the ends the formula gives 0 and 1 but for rounding.
  return {
    rate,
    low: passed === 0 ? 0 : Math.max(0, centre - half),
    high: passed === of ? 1 : Math.min(1, centre + half),
  };
}

/**
 * Fisher's exact test, two-sided: how probable counts as far apart as these, or farther, are if both came out well
 * equally often. Exact for any number of repeats, and never too sure.
 */
export function fisherExact(a: PassCount, b: PassCount): number {
  const passed = a.passed + b.passed;
  const low = Math.max(0, passed - b.of);
  const high = Math.min(a.of, passed);
  const logs = logFactorials(a.of + b.of);
  const choose = (n: number, k: number): number => at(logs, n) - at(logs, k) - at(logs, n - k);
  const all = choose(a.of + b.of, passed);
  const chance = (k: number): number => Math.exp(choose(a.of, k) + choose(b.of, passed - k) - all);
  const seen = chance(a.passed);
  let sum = 0;
  // Tables as probable as the one seen must count, also where they are computed by another way around.
  for (let k = low; k <= high; k++) if (chance(k) <= seen * (1 + 1e-7)) sum += chance(k);
  return Math.min(1, sum);
}

const at = (values: readonly number[], index: number): number => values[index] as number;

function logFactorials(through: number): number[] {
  const logs = [0];
  for (let n = 1; n <= through; n++) logs.push(at(logs, n - 1) + Math.log(n));
  return logs;
}

/** Holm's correction: several comparisons at once find a difference by accident no more often than one does. */
export function holm(chances: readonly number[]): number[] {
  const order = chances.map((_, index) => index).sort((a, b) => at(chances, a) - at(chances, b));
  const corrected = chances.map(() => 1);
  let least = 0;
  for (const [rank, index] of order.entries()) {
    least = Math.max(least, Math.min(1, at(chances, index) * (chances.length - rank)));
    corrected[index] = least;
  }
  return corrected;
}

/**
 * What a comparison of pass counts says. `undecided` is what chance alone explains well enough: the same variant may
 * come out so the next time.
 */
export type Verdict = 'baseline' | 'better' | 'worse' | 'undecided' | 'unchecked';

/** A comparison with the baseline. */
export interface PassComparison {
  readonly verdict: Verdict;
  /** How probable counts so far apart are without a difference, corrected for all comparisons; null where none was made. */
  readonly chance: number | null;
}

/** Below this, a difference is not put down to chance. */
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
    const chance = at(chances, next++);
    if (chance >= significance) return { verdict: 'undecided', chance };
    return { verdict: count.passed / count.of > baseline.passed / baseline.of ? 'better' : 'worse', chance };
  });
  return [{ verdict: baseline.of === 0 ? 'unchecked' : 'baseline', chance: null }, ...compared];
}
