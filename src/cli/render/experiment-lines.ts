import type { ExperimentResult, ExperimentRow, VariantSummary } from '../../engine/resuming/experiment-result.ts';
import { countText, durationText, priceText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { Output, Style } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';
import { outcomeStyle } from './outcome-style.ts';

/** Prints an experiment: every branch, then every variant over its repeats. */
export function experimentLines(out: Output, { rows, variants }: ExperimentResult): string[] {
  const options = { columns: out.tableColumns, bold: (text: string) => out.bold(text) };
  const errors = rows.flatMap(({ branch, error }) =>
    error === null ? [] : [out.style('red', plain(`${branch}: ${error}`))],
  );
  return [
    ...tableLines(rows, rowColumns(out), options),
    ...(errors.length === 0 ? [] : ['', ...errors]),
    '',
    ...tableLines(variants, variantColumns(out), options),
    ...flappingLines(out, variants),
  ];
}

function rowColumns(out: Output): readonly Column<ExperimentRow>[] {
  return [
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
    { title: 'CALLS', value: ({ modelCalls }) => countText(modelCalls), align: 'right', optional: 2 },
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
      value: ({ verdict, chance }) =>
        verdict === 'unchecked' ? '' : `${verdict}${chance === null ? '' : ` (p ${chance.toFixed(2)})`}`,
      style: (text, { verdict }) => out.style(verdictStyles[verdict], text),
    },
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

const percent = (share: number): string => `${Math.round(share * 100)}`;

function intervalText({ interval }: VariantSummary): string {
  return interval === null ? '' : `${percent(interval.low)}–${percent(interval.high)}%`;
}

/** Warns about variants that pass only sometimes. */
function flappingLines(out: Output, variants: readonly VariantSummary[]): string[] {
  const flapping = variants.filter((variant) => variant.flapping).map(({ variant }) => plain(variant));
  return flapping.length === 0
    ? []
    : [out.style('yellow', `Passes only sometimes: ${flapping.join(', ')}. Increase --repeats to be sure.`)];
}
