import { costText, countText, durationText } from '../../../src/wording/amount.ts';
import { type Column, Table } from '../parts/table.tsx';
import type { CompareAnswer } from '../source/answers.ts';

/** The usage of both histories, side by side. */
export function CompareUsage({ answer: { left, right, counts } }: { readonly answer: CompareAnswer }): React.ReactNode {
  const amounts: readonly (readonly [
    name: string,
    left: number | null,
    right: number | null,
    write: (value: number) => string,
  ])[] = [
    ['events', left.summary.events, right.summary.events, countText],
    ['turns', left.summary.turns, right.summary.turns, countText],
    ['tokens in', left.summary.spending.inputTokens, right.summary.spending.inputTokens, countText],
    ['tokens out', left.summary.spending.outputTokens, right.summary.spending.outputTokens, countText],
    ['cost', left.summary.spending.cost, right.summary.spending.cost, costText],
    ['took', left.summary.durationMs, right.summary.durationMs, durationText],
  ];
  const rows = [
    ...amounts.map(([name, a, b, write]) => ({
      name,
      left: a === null ? '–' : write(a),
      right: b === null ? '–' : write(b),
      change: changeText(a, b),
    })),
    { name: 'outcome', left: left.summary.outcome ?? '–', right: right.summary.outcome ?? '–', change: '' },
  ];
  return (
    <div className="compare-usage">
      <Table columns={usageColumns} rows={rows} keyOf={({ name }) => name} />
      <h2>By type of event</h2>
      <Table columns={typeColumns} rows={Object.entries(counts)} keyOf={([type]) => type} />
    </div>
  );
}

interface UsageRow {
  readonly name: string;
  readonly left: string;
  readonly right: string;
  readonly change: string;
}

const usageColumns: readonly Column<UsageRow>[] = [
  { head: 'What', isHeadUnseen: true, cell: ({ name }) => name },
  { head: 'Left', isNumber: true, cell: ({ left }) => left },
  { head: 'Right', isNumber: true, cell: ({ right }) => right },
  { head: 'Change', isNumber: true, look: () => 'dim', cell: ({ change }) => change },
];

type TypeRow = readonly [type: string, counts: CompareAnswer['counts'][string]];

const typeColumns: readonly Column<TypeRow>[] = [
  { head: 'Type', look: () => 'mono', cell: ([type]) => type },
  countColumn('Equal', ({ matched }) => matched),
  countColumn('Changed', ({ changed }) => changed),
  countColumn('Only left', ({ onlyLeft }) => onlyLeft),
  countColumn('Only right', ({ onlyRight }) => onlyRight),
];

function countColumn(head: string, countOf: (counts: TypeRow[1]) => number): Column<TypeRow> {
  return {
    head,
    isNumber: true,
    look: ([, counts]) => (countOf(counts) === 0 ? 'faint' : undefined),
    cell: ([, counts]) => countText(countOf(counts)),
  };
}

/** Writes how much more or less the right side took. */
export function changeText(left: number | null, right: number | null): string {
  if (left === null || right === null || left === right) return '';
  if (left === 0) return 'new';
  const part = Math.round(((right - left) / left) * 100);
  return `${part > 0 ? '+' : '−'}${Math.abs(part)} %`;
}
