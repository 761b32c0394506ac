import type { CopiedSession } from '../../engine/copying/copy-options.ts';
import { countText } from '../../wording/amount.ts';
import { foldedLines, plain } from '../../wording/text.ts';
import type { Output } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';

/** What became of a session, or why nothing did. */
export interface CopyRow extends Omit<CopiedSession, 'outcome'> {
  readonly namespace: string;
  readonly outcome: CopiedSession['outcome'] | 'refused';
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null } | null;
}

/** A row as JSON. */
export function copyShape(row: CopyRow, dryRun: boolean): Record<string, unknown> {
  const { namespace, session, outcome, written, branches, error } = row;
  return { namespace, session, outcome, dryRun, written, branches, error };
}

const wouldBe: Readonly<Record<CopyRow['outcome'], string>> = {
  copied: 'to be copied',
  updated: 'to be updated',
  replaced: 'to be replaced',
  unchanged: 'unchanged',
  refused: 'refused',
};

/** What was copied, as a table, what was refused with the reason below. */
export function copyLines(
  out: Output,
  rows: readonly CopyRow[],
  { dryRun, hasNamespaces }: { readonly dryRun: boolean; readonly hasNamespaces: boolean },
): string[] {
  if (rows.length === 0) return ['Nothing to copy.'];
  const columns: readonly Column<CopyRow>[] = [
    ...(hasNamespaces ? [{ title: 'NAMESPACE', value: ({ namespace }: CopyRow) => plain(namespace) }] : []),
    { title: 'SESSION', value: ({ session }) => plain(session), flex: 1, widthMin: 12 },
    {
      title: 'OUTCOME',
      value: ({ outcome }) => (dryRun ? wouldBe[outcome] : outcome),
      style: (text, { outcome }) => out.style(outcome === 'refused' ? 'red' : 'green', text),
    },
    { title: dryRun ? 'TO WRITE' : 'WRITTEN', value: ({ written }) => countText(written), align: 'right' },
    {
      title: 'BRANCHES',
      value: ({ branches }) => (branches.length === 0 ? '' : countText(branches.length)),
      align: 'right',
    },
    {
      title: 'MAIN',
      value: ({ branches: [first] }) => (first === undefined ? '' : `@${first.head} ${first.digest.slice(0, 12)}`),
    },
  ];
  const folded = (text: string, columns: number): string[] => [...foldedLines(plain(text), out.columns - columns)];
  const reasons = rows.flatMap(({ error }) =>
    error === null
      ? []
      : [
          ...folded(error.message, 2).map((part) => `  ${out.style('red', part)}`),
          ...(error.hint === null
            ? []
            : folded(error.hint, 4).map((part, index) => `  ${index === 0 ? '→' : ' '} ${part}`)),
        ],
  );
  return [...tableLines(rows, columns, { columns: out.tableColumns, bold: (text) => out.bold(text) }), ...reasons];
}
