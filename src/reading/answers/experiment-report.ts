import type {
  ExperimentRow,
  ExperimentSetResult,
  VariantComparison,
  VariantSummary,
} from '../../engine/experimenting/experiment-result.ts';
import { durationText, priceText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';

const percent = (share: number): string => `${Math.round(share * 100)}`;

/** Returns the interval of a variant's pass rate: `44–100%`. */
export function intervalText({ interval }: Pick<VariantSummary, 'interval'>): string {
  return interval === null ? '' : `${percent(interval.low)}–${percent(interval.high)}%`;
}

/** Returns a verdict in words: `better (p 0.02)`, or how many tries could decide. */
export function verdictText({ verdict, chance, needed, paired }: VariantComparison): string {
  if (verdict === 'unchecked') return '';
  if (verdict === 'tooFew') return `too few: ${needed} ${paired === null ? 'repeats' : 'sessions'} needed`;
  const counts = paired === null ? '' : `${paired.better} better, ${paired.worse} worse of ${total(paired)}, `;
  return `${verdict}${chance === null ? '' : ` (${counts}p ${chance.toFixed(2)})`}`;
}

const total = ({ better, worse, equal }: NonNullable<VariantComparison['paired']>): number => better + worse + equal;

/** Returns the scores of a variant: `brief 0.82 (0.71–0.93)`. */
export function scoresText({ scores }: Pick<VariantSummary, 'scores'>): string {
  return scores
    .map((score) => {
      const { name, mean, low, high, verdict } = score;
      const range = low === null || high === null ? '' : ` (${number(low)}–${number(high)})`;
      const told = verdict === 'unchecked' || verdict === 'baseline' ? '' : `, ${verdictText(score)}`;
      return `${name} ${number(mean)}${range}${told}`;
    })
    .join('; ');
}

/** Writes a score with at most three digits after the point. */
export const number = (value: number): string => String(Math.round(value * 1000) / 1000);

/** Returns an experiment as Markdown, for a pull request. */
export function experimentMarkdown(result: ExperimentSetResult): string {
  const { id, rows, variants, sessions } = result;
  const head = ['variant', 'ok', 'passed', '95 %', 'vs first', 'scores', 'cost', 'took'];
  const variantRows = variants.map((variant) => [
    variant.variant,
    `${variant.succeeded}/${variant.branches}`,
    variant.checked === 0 ? '' : `${variant.passed}/${variant.checked}${variant.flapping ? ' (flapping)' : ''}`,
    intervalText(variant),
    verdictText(variant),
    scoresText(variant),
    priceText({ cost: variant.mean.cost, unpricedCalls: variant.unpricedCalls }),
    durationText(variant.mean.latencyMs),
  ]);
  const failed = rows.filter((row) => row.passed === false || row.error !== null);
  const gone = sessions.filter(({ error }) => error !== null);
  return [
    `## Experiment ${id}`,
    '',
    `${rows.length} of ${result.total} branches on ${sessions.length === 1 ? 'one session' : `${sessions.length} sessions`}.`,
    '',
    ...table(head, variantRows),
    ...(failed.length === 0
      ? []
      : ['', '### Not passed', '', ...table(['branch', 'outcome', 'why'], failed.map(failedCells))]),
    ...(gone.length === 0
      ? []
      : ['', '### Not run', '', ...gone.map(({ session, error }) => `- ${cell(`${session}: ${error}`)}`)]),
    '',
  ].join('\n');
}

const failedCells = ({ session, branch, outcome, reason, error }: ExperimentRow): string[] => [
  `${session}/${branch}`,
  outcome,
  error ?? reason ?? '',
];

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)];
}

/** Keeps text in its cell: no line breaks, no bars, and nothing that a page would run. */
function cell(text: string): string {
  return plain(text).replaceAll(/\s+/g, ' ').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('|', '\\|');
}

/** Returns an experiment as JUnit XML: a suite for each variant, a case for each of its branches. */
export function experimentJunit({ id, rows, variants }: ExperimentSetResult): string {
  const suites = variants.map(({ variant }) =>
    suiteOf(
      id,
      variant,
      rows.filter((row) => row.variant === variant),
    ),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escaped(`experiment ${id}`)}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function suiteOf(id: string, variant: string, rows: readonly ExperimentRow[]): string {
  const count = (kind: ReturnType<typeof caseKind>): number => rows.filter((row) => caseKind(row) === kind).length;
  const counts = `tests="${rows.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`;
  const seconds = rows.reduce((sum, row) => sum + row.latencyMs, 0) / 1000;
  const head = `  <testsuite name="${escaped(variant)}" id="${escaped(id)}" ${counts} time="${seconds.toFixed(3)}">`;
  return [head, ...rows.map(caseOf), '  </testsuite>'].join('\n');
}

/** A branch without a verdict of a check is neither a success nor a failure. */
function caseKind({ outcome, passed }: ExperimentRow): 'error' | 'failure' | 'skipped' | 'success' {
  if (passed === false) return 'failure';
  if (outcome !== 'ok') return 'error';
  return passed === null ? 'skipped' : 'success';
}

function caseOf(row: ExperimentRow): string {
  const { session, branch, variant, latencyMs, error, reason } = row;
  const kind = caseKind(row);
  const head = `    <testcase classname="${escaped(variant)}" name="${escaped(`${session}/${branch}`)}" time="${(latencyMs / 1000).toFixed(3)}"`;
  if (kind === 'success') return `${head}/>`;
  const why = escaped(error ?? reason ?? (kind === 'skipped' ? 'no check' : row.outcome));
  return `${head}><${kind} message="${why}"/></testcase>`;
}

/** Escapes text for XML, without the control characters that XML has no form for. */
function escaped(text: string): string {
  return plain(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
