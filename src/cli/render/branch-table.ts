import { refText } from '../../core/ref.ts';
import { msBetween } from '../../core/time.ts';
import { waitingText } from '../../engine/resuming/person-decisions.ts';
import type { ListedBranch } from '../../reading/answers/list-branches.ts';
import { bytesText, countText, durationText, priceText, timeText } from '../../wording/amount.ts';
import { gitText } from '../../wording/event-gist.ts';
import { plain } from '../../wording/text.ts';
import type { Output } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';
import { outcomeStyle } from './outcome-style.ts';

/** How to print the table. */
export interface BranchTableOptions {
  /** Adds a column for the namespace. */
  readonly hasNamespaces: boolean;
  /** Whether a row represents a whole session: then it says how many branches that has. */
  readonly isFolded: boolean;
  /** The current time, to show how long a run has been silent. */
  readonly now?: string;
}

/** Prints branches as a table, each below its parent; columns that do not fit the terminal are left out. */
export function branchTable(out: Output, rows: readonly ListedBranch[], options: BranchTableOptions): string[] {
  const { hasNamespaces, isFolded, now = new Date().toISOString() } = options;
  const shown = new Set(rows.map(({ record, node }) => keyOf(record, node.branch)));
  // Leave out the title before a name becomes unreadable.
  const titleRank = hasNamespaces ? { optional: 0.5 } : {};
  const columns: readonly Column<ListedBranch>[] = [
    ...(hasNamespaces ? [namespaceColumn] : []),
    {
      title: 'SESSION',
      value: (row) => nameText(row, shown),
      flex: 2,
      widthMin: 14,
      style: (text, { node }) => (node.parent === null ? out.bold(text) : text),
    },
    ...(isFolded && rows.some(({ branches }) => branches > 1) ? [branchesColumn] : []),
    { title: 'TITLE', value: ({ summary }) => plain(summary.title ?? ''), flex: 3, widthMin: 16, ...titleRank },
    { title: 'STARTED', value: ({ summary }) => startedText(summary.startedAt), optional: 3 },
    { title: 'TOOK', value: ({ summary }) => tookText(summary.durationMs), align: 'right', optional: 4 },
    { title: 'EVENTS', value: ({ summary }) => countText(summary.events), align: 'right', optional: 1 },
    { title: 'SIZE', value: ({ node }) => bytesText(node.bytes), align: 'right', optional: 9 },
    { title: 'AGENTS', value: ({ summary }) => agentsText(summary.agents), widthMax: 18, optional: 6 },
    {
      title: 'OUTCOME',
      value: (branch) => outcomeText(branch, now),
      style: (text, { summary }) => out.style(outcomeStyle(summary.outcome), text),
    },
    { title: 'TOKENS', value: ({ summary }) => tokensText(summary.spending), align: 'right', optional: 7 },
    { title: 'COST', value: ({ summary }) => priceText(summary.spending), align: 'right', optional: 5 },
    { title: 'GIT', value: ({ summary }) => plain(gitText(summary.git)), widthMax: 24, optional: 8 },
  ];
  return tableLines(rows, columns, { columns: out.tableColumns, bold: (text) => out.bold(text) });
}

const branchesColumn: Column<ListedBranch> = {
  title: 'BRANCHES',
  value: ({ branches }) => countText(branches),
  align: 'right',
  optional: 2,
};

const namespaceColumn: Column<ListedBranch> = {
  title: 'NAMESPACE',
  value: ({ record }) => plain(record.namespace),
  widthMax: 16,
};

const keyOf = (record: ListedBranch['record'], branch: string): string =>
  JSON.stringify([record.namespace, record.session, branch]);

/** Returns the session, or the branch as drawn below its parent; if the parent is not shown, the full ref. */
function nameText({ record, session, node, lead, archived }: ListedBranch, shown: ReadonlySet<string>): string {
  if (node.parent === null) return plain(session.id);
  if (!shown.has(keyOf(record, node.parent.branch)))
    return plain(refText({ session: session.id, branch: node.branch }));
  return `${lead}${plain(node.branch)} @${node.parent.seq}${archived ? ' (archived)' : ''}`;
}

const startedText = (time: string | null): string => (time === null ? '' : timeText(time));
const tookText = (ms: number | null): string => (ms === null ? '' : durationText(Math.max(0, ms)));

function agentsText(agents: readonly string[]): string {
  return plain(agents.slice(0, 3).join(',') + (agents.length > 3 ? `,+${agents.length - 3}` : ''));
}

function outcomeText({ summary, waiting }: ListedBranch, now: string): string {
  const { outcome, silentSince } = summary;
  const [first] = waiting;
  if (first !== undefined)
    return plain(`waiting: ${waitingText(first)}${waiting.length > 1 ? `, +${waiting.length - 1}` : ''}`);
  if (outcome !== 'silent' || silentSince === null) return plain(outcome ?? '');
  return `silent ${durationText(Math.max(0, msBetween(silentSince, now)))}`;
}

function tokensText({ inputTokens, outputTokens }: ListedBranch['summary']['spending']): string {
  const tokens = inputTokens + outputTokens;
  return tokens === 0 ? '' : countText(tokens);
}
