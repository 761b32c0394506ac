import { textOf } from '../../core/message/message.ts';
import type { RepairRule } from '../../core/message/repair.ts';
import { waitingText } from '../../engine/resuming/person-decisions.ts';
import type { ResumeReport, TurnComparison } from '../../engine/resuming/resume.ts';
import { countText, durationText, plural, priceText } from '../../wording/amount.ts';
import { foldedLines, plain } from '../../wording/text.ts';
import type { Output } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';
import { outcomeStyle } from './outcome-style.ts';

/** The repairs that nearly every history needs; they are not worth a line. */
const routine: ReadonlySet<RepairRule> = new Set<RepairRule>(['prompt-once', 'system-apart']);

/** Prints the result of a resume: how it ended, what it took, and its answer. */
export function resumedLines(out: Output, resumed: ResumeReport, agent: string): string[] {
  const { ref, outcome, text, reused, simulated, repairs, comparison, report } = resumed;
  const ended = out.style(outcomeStyle(outcome), outcome);
  return [
    `${out.style('green', plain(ref))} resumed on ${plain(agent)}: ${ended}, ${spentText(resumed)}`,
    ...stoppedLines(out, resumed),
    ...(reused === 0
      ? []
      : [
          out.dim(
            `${plural(reused, 'call')} answered from the record; to make ${reused === 1 ? 'it' : 'them'} again, add --effects run`,
          ),
        ]),
    ...(simulated === 0 ? [] : [out.style('yellow', `${plural(simulated, 'call')} simulated, and not made`)]),
    ...repairs
      .filter(({ rule }) => !routine.has(rule))
      .map(({ rule, what }) => out.dim(plain(`repaired (${rule}): ${what}`))),
    ...(report.failed === 0 ? [] : [out.style('red', `${plural(report.failed, 'event')} could not be recorded`)]),
    ...(comparison.length === 0 ? [] : ['', ...comparisonLines(out, comparison)]),
    ...(text === '' || comparison.length > 0 ? [] : ['', ...foldedLines(text, out.columns)]),
  ];
}

/** Says why a run did not come to its end. */
function stoppedLines(out: Output, { outcome, waiting }: ResumeReport): string[] {
  if (outcome === 'ok') return [];
  if (waiting.length === 0) return [out.style('yellow', 'It was stopped early; this is what it had so far.')];
  return waiting.map((call) => out.style('yellow', plain(`It waits for a person: ${waitingText(call)}`)));
}

/** Writes what a run took: `2 model calls, 1,024 tokens, $0.0012, 1.2s`. */
function spentText({ modelCalls, usage, cost, unpricedCalls, latencyMs }: ResumeReport): string {
  const tokens = usage.inputTokens + usage.outputTokens;
  const price = cost === null && unpricedCalls > 0 ? 'cost unknown' : priceText({ cost, unpricedCalls });
  return [plural(modelCalls, 'model call'), tokens === 0 ? '' : plural(tokens, 'token'), price, durationText(latencyMs)]
    .filter((part) => part !== '')
    .join(', ');
}

/** Prints, for each user message, the answer before and now. */
function comparisonLines(out: Output, turns: readonly TurnComparison[]): string[] {
  const sign = (isSame: boolean): string => (isSame ? 'same' : 'different');
  const tokensOf = ({ usage }: { readonly usage: { readonly inputTokens: number; readonly outputTokens: number } }) =>
    countText(usage.inputTokens + usage.outputTokens);
  const styled = (text: string): string => out.style(text.startsWith('same') ? 'green' : 'yellow', text);
  const columns: readonly Column<TurnComparison>[] = [
    { title: 'USER', value: ({ message }) => plain(textOf(message)), flex: 2, widthMin: 12 },
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
  return tableLines(turns, columns, { columns: out.tableColumns, bold: (text) => out.bold(text) });
}
