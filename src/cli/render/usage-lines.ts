import type { Summary } from '../../projections/summary.ts';
import { countText, durationText, priceText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { Output } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';

interface UsageRow {
  readonly name: string;
  readonly left: string;
  readonly right: string;
}

/** Prints what two histories took, side by side. */
export function usageLines(out: Output, left: Summary, right: Summary): string[] {
  const row = (name: string, text: (held: Summary) => string): UsageRow => ({
    name,
    left: text(left),
    right: text(right),
  });
  const rows = [
    row('events', ({ events }) => countText(events)),
    row('tokens in', ({ spending }) => countText(spending.inputTokens)),
    row('tokens out', ({ spending }) => countText(spending.outputTokens)),
    row('cost', ({ spending }) => priceText(spending, '–')),
    row('took', ({ durationMs }) => (durationMs === null ? '' : durationText(Math.max(0, durationMs)))),
    row('outcome', ({ outcome }) => plain(outcome ?? '')),
  ];
  const differs = (text: string, held: UsageRow): string => (held.left === held.right ? text : out.bold(text));
  const columns: readonly Column<UsageRow>[] = [
    { title: '', value: ({ name }) => name, style: (text) => out.dim(text) },
    { title: 'LEFT', value: (held) => held.left, align: 'right', style: differs },
    { title: 'RIGHT', value: (held) => held.right, align: 'right', style: differs },
  ];
  return tableLines(rows, columns, { columns: out.tableColumns, bold: (text) => out.bold(text) });
}
