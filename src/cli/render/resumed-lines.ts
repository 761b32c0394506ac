import type { JsonValue } from '../../core/json.ts';
import { textOf } from '../../core/message/message.ts';
import type { RepairRule } from '../../core/message/repair.ts';
import type { ResumeReport, TurnComparison } from '../../engine/resuming/resume.ts';
import { countText, durationText, plural, priceText } from '../../wording/amount.ts';
import { foldedLines, plain } from '../../wording/text.ts';
import type { Output } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';
import { outcomeStyle } from './outcome-style.ts';

/** What `--json` prints of a resume; the framework's own result is for programs. */
export function resumeShape(resumed: ResumeReport): Record<string, unknown> {
  const { session, branch, ref, outcome, text, modelCalls, usage, cost, unpricedCalls, latencyMs } = resumed;
  const { reused, asked, repairs, runs, lineage, comparison, report } = resumed;
  const spent = { modelCalls, usage, cost, unpricedCalls, latencyMs };
  const recorded = { stored: report.stored, failed: report.failed };
  return { session, branch, ref, outcome, text, ...spent, reused, asked, repairs, runs, lineage, comparison, recorded };
}

/** What is done to nearly every history is no news to a person. */
const everyday: ReadonlySet<RepairRule> = new Set<RepairRule>(['prompt-once', 'system-apart']);

/** What a resume did, for a person: how it ended, what it took, what was said. */
export function resumedLines(out: Output, resumed: ResumeReport, agent: string): string[] {
  const { ref, outcome, text, reused, repairs, comparison, report } = resumed;
  const ended = out.style(outcomeStyle(outcome), outcome);
  return [
    `${out.style('green', plain(ref))} resumed on ${plain(agent)}: ${ended}, ${spentText(resumed)}`,
    ...(outcome === 'ok'
      ? []
      : [out.style('yellow', 'It was stopped before it was done, and gave this all the same.')]),
    ...(reused === 0
      ? []
      : [
          out.dim(
            `${plural(reused, 'call')} answered from the record; --effects run makes ${reused === 1 ? 'it' : 'them'} again`,
          ),
        ]),
    ...repairs
      .filter(({ rule }) => !everyday.has(rule))
      .map(({ rule, what }) => out.dim(plain(`mended, ${rule}: ${what}`))),
    ...(report.failed === 0 ? [] : [out.style('red', `${plural(report.failed, 'event')} could not be recorded`)]),
    ...(comparison.length === 0 ? [] : ['', ...comparisonLines(out, comparison)]),
    ...(text === '' || comparison.length > 0 ? [] : ['', ...foldedLines(text, out.columns)]),
  ];
}

/** What a run took: `2 model calls, 1,024 tokens, $0.0012, 1.2s`. */
export function spentText({ modelCalls, usage, cost, unpricedCalls, latencyMs }: ResumeReport): string {
  const tokens = usage.inputTokens + usage.outputTokens;
  const price = cost === null && unpricedCalls > 0 ? 'cost unknown' : priceText({ cost, unpricedCalls });
  return [plural(modelCalls, 'model call'), tokens === 0 ? '' : plural(tokens, 'token'), price, durationText(latencyMs)]
    .filter((part) => part !== '')
    .join(', ');
}

/** Turn by turn: what the user said, and what was made of it before and now. */
function comparisonLines(out: Output, turns: readonly TurnComparison[]): string[] {
  const sign = (isSame: boolean): string => (isSame ? 'same' : 'other');
  const tokensOf = ({ usage }: { readonly usage: { readonly inputTokens: number; readonly outputTokens: number } }) =>
    countText(usage.inputTokens + usage.outputTokens);
  const styled = (text: string): string => out.style(text.startsWith('same') ? 'green' : 'yellow', text);
  const columns: readonly Column<TurnComparison>[] = [
    { title: 'USER', value: ({ message }) => plain(textOf(message as unknown as JsonValue)), flex: 2, widthMin: 12 },
    { title: 'BEFORE', value: ({ original }) => plain(original?.answer ?? ''), flex: 3, widthMin: 12 },
    { title: 'NOW', value: ({ resumed }) => plain(resumed.answer), flex: 3, widthMin: 12 },
    {
      title: 'ANSWER',
      value: ({ original, sameAnswer }) => (original === null ? 'new' : sign(sameAnswer)),
      style: styled,
    },
    {
      title: 'TOOLS',
      value: ({ original, sameTools }) => (original === null ? 'new' : sign(sameTools)),
      style: styled,
    },
    {
      title: 'TOKENS',
      value: ({ original, resumed }) => `${original === null ? '' : tokensOf(original)} → ${tokensOf(resumed)}`,
      align: 'right',
      optional: 1,
    },
    {
      title: 'COST',
      value: ({ resumed }) => priceText(resumed),
      align: 'right',
      optional: 2,
    },
  ];
  return tableLines(turns, columns, { columns: out.columns, bold: (text) => out.bold(text) });
}
