import { Option } from 'commander';
import { given } from '../../core/json.ts';
import { refText } from '../../core/ref.ts';
import type { Session } from '../../engine/session.ts';
import { readTree, type TreeAnswer, type TreeBranch, treeRow } from '../../reading/answers/tree-rows.ts';
import { countText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { flagOption } from '../option-values.ts';
import { outcomeStyle } from '../render/outcome-style.ts';
import type { Output } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';

/** `reprise tree`. */
export const tree: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'session, or a branch to see only its ancestors and its forks' }],
  options: [new Option('--edits', 'show the edits each branch was made with')],
  examples: ['reprise tree demo', 'reprise tree demo/careful --edits', 'reprise tree latest --json'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const { session, ref } = await context.branch(text);
    const withEdits = flagOption(options, 'edits') || out.json !== undefined;
    const branches = await readTree(session, ref.branch, { withEdits });
    const rows = branches.map((branch) => treeRow(session, branch));
    if (out.json === 'object') await out.value({ session: session.id, branches: rows } satisfies TreeAnswer);
    else if (out.json === 'lines') for (const row of rows) await out.value(row);
    else {
      await out.lines(treeTable(out, session, branches));
      out.next(nextOf(session, branches));
    }
    return done;
  },
};

/** Suggests a diff of the last branch with its parent, or a first fork if there is none. */
function nextOf(session: Session, branches: readonly TreeBranch[]): string {
  const ref = (branch?: string): string => refText({ session: session.id, ...given({ branch }) });
  const { branch, parent } = branches.at(-1)?.node ?? { branch: '', parent: null };
  return parent === null ? `reprise fork ${ref()} --name another` : `reprise diff ${ref(parent.branch)} ${ref(branch)}`;
}

function treeTable(out: Output, session: Session, branches: readonly TreeBranch[]): string[] {
  const columns: readonly Column<TreeBranch>[] = [
    {
      title: 'BRANCH',
      value: ({ node, lead }) =>
        node.parent === null ? plain(session.id) : `${lead}${plain(node.branch)} @${node.parent.seq}`,
      flex: 2,
      widthMin: 16,
      style: (text, { node }) => (node.parent === null ? out.bold(text) : text),
    },
    { title: 'EVENTS', value: ({ summary }) => countText(summary.events), align: 'right' },
    {
      title: 'OUTCOME',
      value: ({ summary }) => plain(summary.outcome ?? ''),
      style: (text, { summary }) => out.style(outcomeStyle(summary.outcome), text),
    },
    { title: 'REASON', value: ({ node }) => plain(node.reason ?? ''), flex: 3, widthMin: 12 },
    { title: 'EDITS', value: ({ edits }) => plain(edits.join(', ')), flex: 2, widthMin: 10 },
  ];
  return tableLines(branches, columns, { columns: out.tableColumns, bold: (text) => out.bold(text) });
}
