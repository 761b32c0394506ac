import type {
  ExperimentRow,
  ExperimentSetResult,
  VariantSummary,
} from '../../engine/experimenting/experiment-result.ts';
import { intervalText, number, scoresText, verdictText } from '../../reading/answers/experiment-report.ts';
import { countText, durationText, priceText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { Output, Style } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';
import { outcomeStyle } from './outcome-style.ts';

/** Prints an experiment: every branch, then every variant over its repeats. */
export function experimentLines(out: Output, { id, rows, total, variants, sessions }: ExperimentSetResult): string[] {
  const options = { columns: out.tableColumns, bold: (text: string) => out.bold(text) };
  const isSet = sessions.length > 1;
  const errors = [
    ...rows.flatMap(({ session, branch, error, reason }) => {
      const where = isSet ? `${session}/${branch}` : branch;
      if (error !== null) return [out.style('red', plain(`${where}: ${error}`))];
      return reason === null ? [] : [out.dim(plain(`${where}: ${reason}`))];
    }),
    ...sessions.flatMap(({ session, error }) =>
      error === null ? [] : [out.style('red', plain(`${session} was not run: ${error}`))],
    ),
  ];
  return [
    out.dim(`Experiment ${id}: ${rows.length} of ${total} branches`),
    ...tableLines(rows, rowColumns(out, isSet), options),
    ...(errors.length === 0 ? [] : ['', ...errors]),
    '',
    ...tableLines(variants, variantColumns(out), options),
    ...flappingLines(out, variants),
  ];
}

function rowColumns(out: Output, isSet: boolean): readonly Column<ExperimentRow>[] {
  const session: Column<ExperimentRow> = {
    title: 'SESSION',
    value: (row) => plain(row.session),
    flex: 2,
    widthMin: 10,
  };
  return [
    ...(isSet ? [session] : []),
    { title: 'BRANCH', value: ({ branch }) => plain(branch), flex: 2, widthMin: 12 },
    {
      title: 'OUTCOME',
      value: ({ outcome }) => outcome,
      style: (text, { outcome }) => out.style(outcomeStyle(outcome), text),
    },
    {
      title: 'CHECK',
      value: ({ passed }) => (passed === null ? '' : passed ? 'pass' : 'fail'),
      style: (text, { passed }) => out.style(passed === true ? 'green' : 'red', text),
    },
    { title: 'SCORES', value: ({ scores }) => plain(rowScores(scores)), optional: 2 },
    { title: 'CALLS', value: ({ modelCalls }) => countText(modelCalls), align: 'right', optional: 2 },
    {
      title: 'SIMULATED',
      value: ({ simulated }) => (simulated === 0 ? '' : countText(simulated)),
      align: 'right',
      optional: 5,
    },
    {
      title: 'TOKENS',
      value: ({ usage }) => tokensText(usage.inputTokens + usage.outputTokens),
      align: 'right',
      optional: 1,
    },
    { title: 'COST', value: (row) => priceText(row), align: 'right', optional: 3 },
    { title: 'TOOK', value: ({ latencyMs }) => durationText(latencyMs), align: 'right', optional: 4 },
    { title: 'DIFFERS', value: divergesText, optional: 5 },
    { title: 'RESULT', value: ({ text }) => plain(text), flex: 4, widthMin: 16, optional: 6 },
  ];
}

const rowScores = (scores: ExperimentRow['scores']): string =>
  Object.entries(scores)
    .map(([name, score]) => `${name} ${number(score)}`)
    .join(', ');

const tokensText = (tokens: number): string => (tokens === 0 ? '' : countText(tokens));

/** Returns where a branch first differs from the original, as a seq of the original. */
function divergesText({ divergedAt, error }: ExperimentRow): string {
  if (divergedAt === null) return error === null ? 'never' : '';
  return divergedAt.left === null ? 'at the end' : `@${divergedAt.left}`;
}

const verdictStyles: Readonly<Record<VariantSummary['verdict'], Style>> = {
  baseline: 'dim',
  better: 'green',
  worse: 'red',
  undecided: 'yellow',
  tooFew: 'yellow',
  unchecked: 'dim',
};

function variantColumns(out: Output): readonly Column<VariantSummary>[] {
  return [
    { title: 'VARIANT', value: ({ variant }) => plain(variant), flex: 2, widthMin: 12 },
    { title: 'OK', value: ({ succeeded, branches }) => `${succeeded}/${branches}`, align: 'right' },
    { title: 'PASSED', value: ({ passed, checked }) => (checked === 0 ? '' : `${passed}/${checked}`), align: 'right' },
    { title: '95% CI', value: intervalText, align: 'right' },
    {
      title: 'VS FIRST',
      value: verdictText,
      style: (text, { verdict }) => out.style(verdictStyles[verdict], text),
    },
    { title: 'SCORES', value: (variant) => plain(scoresText(variant)), flex: 2, optional: 2 },
    { title: 'CALLS', value: ({ mean }) => mean.modelCalls.toFixed(1), align: 'right', optional: 2 },
    { title: 'TOKENS', value: ({ mean }) => tokensText(Math.round(mean.tokens)), align: 'right', optional: 1 },
    {
      title: 'COST',
      value: ({ mean, unpricedCalls }) => priceText({ cost: mean.cost, unpricedCalls }),
      align: 'right',
      optional: 3,
    },
    { title: 'TOOK', value: ({ mean }) => durationText(mean.latencyMs), align: 'right', optional: 4 },
  ];
}

/** Warns about variants that pass only sometimes. */
function flappingLines(out: Output, variants: readonly VariantSummary[]): string[] {
  const flapping = variants.filter((variant) => variant.flapping).map(({ variant }) => plain(variant));
  return flapping.length === 0
    ? []
    : [out.style('yellow', `Passes only sometimes: ${flapping.join(', ')}. Increase --repeats to be sure.`)];
}
