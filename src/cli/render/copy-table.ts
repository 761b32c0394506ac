import type { CopiedSession } from '../../engine/copying/copy-options.ts';
import { countText } from '../../wording/amount.ts';
import { foldedLines, plain } from '../../wording/text.ts';
import type { Output } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';

/** A session that was copied, or why it was not. */
export interface CopiedRow extends Omit<CopiedSession, 'outcome'> {
  readonly namespace: string;
  readonly outcome: CopiedSession['outcome'] | 'refused';
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null } | null;
}

/** One session, as `reprise copy --json` prints it. */
export interface CopyRow extends CopiedRow {
  readonly dryRun: boolean;
}

/** Every session as one object. */
export interface CopyAnswer {
  readonly sessions: readonly CopyRow[];
}

/** Returns the JSON row of a session. */
export function copyRow(row: CopiedRow, dryRun: boolean): CopyRow {
  const { namespace, session, outcome, written, branches, error } = row;
  return { namespace, session, outcome, dryRun, written, branches, error };
}

const wouldBe: Readonly<Record<CopiedRow['outcome'], string>> = {
  copied: 'would copy',
  updated: 'would update',
  replaced: 'would replace',
  unchanged: 'unchanged',
  refused: 'refused',
};

/** Prints copied sessions as a table, with the reasons of refusals below it. */
export function copyLines(
  out: Output,
  rows: readonly CopiedRow[],
  { dryRun, hasNamespaces }: { readonly dryRun: boolean; readonly hasNamespaces: boolean },
): string[] {
  if (rows.length === 0) return ['Nothing to copy.'];
  const columns: readonly Column<CopiedRow>[] = [
    ...(hasNamespaces ? [{ title: 'NAMESPACE', value: ({ namespace }: CopiedRow) => plain(namespace) }] : []),
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
