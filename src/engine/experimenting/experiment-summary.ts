import {
  comparePairs,
  comparePasses,
  meanInterval,
  type PairCount,
  type PassComparison,
  type PassCount,
  wilsonInterval,
} from '../../core/comparing/statistics.ts';
import { itemAt } from '../../core/item-at.ts';
import type { ExperimentRow, ScoreSummary, VariantComparison, VariantSummary } from './experiment-result.ts';

/** A number of a row that variants are compared by; null if the row has none. */
type Measure = (row: ExperimentRow) => number | null;

const passing: Measure = ({ passed }) => (passed === null ? null : Number(passed));
const scoring =
  (name: string): Measure =>
  ({ scores }) =>
    (Object.hasOwn(scores, name) ? scores[name] : undefined) ?? null;

/** Summarizes the rows of each variant, and compares it with the first one. */
export function summarize(variants: readonly string[], rows: readonly ExperimentRow[]): VariantSummary[] {
  const groups = variants.map((name) => rows.filter((row) => row.variant === name));
  const isSet = new Set(rows.map(({ session }) => session)).size > 1;
  const names = [...new Set(rows.flatMap(({ scores }) => Object.keys(scores)))];
  const measures = [passing, ...names.map(scoring)];
  const compared = isSet ? pairedComparisons(groups, measures) : singleComparisons(groups, names.length);
  return groups.map((group, index) => {
    const { passed, of } = passesIn(group);
    const [passes, ...others] = compared.map((list) => itemAt(list, index));
    const interval = wilsonInterval(isSet ? bySession(group) : { passed, of });
    return {
      variant: itemAt(variants, index),
      branches: group.length,
      succeeded: group.filter(({ outcome }) => outcome === 'ok').length,
      passed,
      checked: of,
      interval: interval ?? null,
      flapping: sessionsOf(group).some(hasBoth),
      ...(passes ?? notCompared),
      scores: names.flatMap((name, at) => scoreOf(name, group, others[at] ?? notCompared)),
      unpricedCalls: group.reduce((sum, row) => sum + row.unpricedCalls, 0),
      mean: meansOf(group),
    };
  });
}

const notCompared: VariantComparison = { verdict: 'unchecked', chance: null, needed: null, paired: null };

const hasBoth = (rows: readonly ExperimentRow[]): boolean =>
  rows.some(({ passed }) => passed === true) && rows.some(({ passed }) => passed === false);

function passesIn(rows: readonly ExperimentRow[]): PassCount {
  const checked = rows.filter(({ passed }) => passed !== null);
  return { passed: checked.filter(({ passed }) => passed === true).length, of: checked.length };
}

const sessionsOf = (rows: readonly ExperimentRow[]): readonly (readonly ExperimentRow[])[] => [
  ...Map.groupBy(rows, ({ session }) => session).values(),
];

/** Counts sessions instead of branches: repeats of one session are not independent of each other. */
function bySession(rows: readonly ExperimentRow[]): PassCount {
  const rates = sessionsOf(rows).flatMap((own) => meanOf(own, passing) ?? []);
  return { passed: rates.reduce((sum, rate) => sum + rate, 0), of: rates.length };
}

function meanOf(rows: readonly ExperimentRow[], measure: Measure): number | null {
  const values = rows.flatMap((row) => measure(row) ?? []);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** In one session, passes are compared over all tries; scores have intervals and no verdict. */
function singleComparisons(groups: readonly (readonly ExperimentRow[])[], scores: number): VariantComparison[][] {
  const alone = (comparison: PassComparison): VariantComparison => ({ ...comparison, paired: null });
  const passes = comparePasses(groups.map(passesIn)).map(alone);
  return [passes, ...Array.from({ length: scores }, () => groups.map(() => notCompared))];
}

/** In a set, every measure is compared session by session, and all comparisons are corrected together. */
function pairedComparisons(
  groups: readonly (readonly ExperimentRow[])[],
  measures: readonly Measure[],
): VariantComparison[][] {
  const [first = [], ...others] = groups;
  const pairs = measures.map((measure) => others.map((group) => pairsOf(first, group, measure)));
  const compared = comparePairs(pairs.flat());
  return measures.map((measure, at) => {
    const isMeasured = first.some((row) => measure(row) !== null);
    const baseline: VariantComparison = { ...notCompared, verdict: isMeasured ? 'baseline' : 'unchecked' };
    const rest = itemAt(pairs, at).map((paired, index): VariantComparison => {
      const comparison = itemAt(compared, at * others.length + index);
      return { ...comparison, paired: comparison.verdict === 'unchecked' ? null : paired };
    });
    return [baseline, ...rest];
  });
}

function pairsOf(first: readonly ExperimentRow[], group: readonly ExperimentRow[], measure: Measure): PairCount {
  const before = new Map(sessionsOf(first).map((own) => [own[0]?.session, meanOf(own, measure)]));
  const count = { better: 0, worse: 0, equal: 0 };
  for (const own of sessionsOf(group)) {
    const [left, right] = [before.get(own[0]?.session) ?? null, meanOf(own, measure)];
    if (left === null || right === null) continue;
    if (right > left) count.better++;
    else if (right < left) count.worse++;
    else count.equal++;
  }
  return count;
}

function scoreOf(name: string, rows: readonly ExperimentRow[], comparison: VariantComparison): ScoreSummary[] {
  const interval = meanInterval(rows.flatMap((row) => scoring(name)(row) ?? []));
  return interval === undefined ? [] : [{ name, ...interval, ...comparison }];
}

function meansOf(rows: readonly ExperimentRow[]): VariantSummary['mean'] {
  return {
    modelCalls: meanOf(rows, ({ modelCalls }) => modelCalls) ?? 0,
    tokens: meanOf(rows, ({ usage }) => usage.inputTokens + usage.outputTokens) ?? 0,
    cost: meanOf(rows, ({ cost }) => cost),
    latencyMs: meanOf(rows, ({ latencyMs }) => latencyMs) ?? 0,
  };
}
