import { Option } from 'commander';
import { given, isObject } from '../../core/json.ts';
import { type Ref, refText } from '../../core/ref.ts';
import type { BranchNode } from '../../core/session/session-log.ts';
import type { Session } from '../../engine/session.ts';
import { type Summary, summary } from '../../projections/summary.ts';
import { drawnBranches } from '../../reading/branch-rows.ts';
import { countText } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import { done } from '../exit-code.ts';
import { outcomeStyle } from '../render/outcome-style.ts';
import type { Output } from '../terminal/output.ts';
import { type Column, tableLines } from '../terminal/table.ts';

/** `reprise tree`. */
export const tree: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'the session; with a branch, what leads to it and what grew from it' }],
  options: [new Option('--edits', 'also what each branch was changed by')],
  examples: ['reprise tree demo', 'reprise tree demo/careful --edits', 'reprise tree latest --json'],
  run: async (context, [text = ''], options) => {
    const { out } = context;
    const { session, ref } = await context.branch(text);
    const rows = await rowsOf(session, ref, { withEdits: options['edits'] === true || out.json !== undefined });
    const shapes = rows.map((row) => shapeOf(session, row));
    if (out.json === 'object') await out.value({ session: session.id, branches: shapes });
    else if (out.json === 'lines') for (const shape of shapes) await out.value(shape);
    else {
      await out.lines(treeTable(out, session, rows));
      out.next(nextOf(session, rows));
    }
    return done;
  },
};

/** The last branch beside its parent, or the first fork where there is none. */
function nextOf(session: Session, rows: readonly TreeRow[]): string {
  const ref = (branch?: string): string => refText({ session: session.id, ...given({ branch }) });
  const { branch, parent } = rows.at(-1)?.node ?? { branch: '', parent: null };
  return parent === null ? `reprise fork ${ref()} --name another` : `reprise diff ${ref(parent.branch)} ${ref(branch)}`;
}

interface TreeRow {
  readonly node: BranchNode;
  readonly lead: string;
  readonly summary: Summary;
  /** What the branch was changed by, in words; empty where that was not asked for. */
  readonly edits: readonly string[];
}

async function rowsOf(
  session: Session,
  { branch }: Ref,
  { withEdits }: { readonly withEdits: boolean },
): Promise<TreeRow[]> {
  const rows: TreeRow[] = [];
  for (const { node, lead } of drawnBranches(lineOf(await session.tree(), branch))) {
    const held = await session.stateAt({ branch: node.branch }, summary);
    const edits = withEdits && node.parent !== null ? await editsOf(session, node) : [];
    rows.push({ node, lead, summary: held, edits });
  }
  return rows;
}

/** What begins when a branch is run: what stands before is what it was made with. */
const beginnings: ReadonlySet<string> = new Set(['run.started', 'turn.started', 'call.started', 'task.started']);
const editsMax = 20;

async function editsOf(session: Session, { branch, parent }: BranchNode): Promise<string[]> {
  const found: string[] = [];
  const own = { at: { branch }, history: 'raw', after: (parent?.seq ?? 0) + 1, limit: editsMax } as const;
  for await (const { type, data } of session.replay(own)) {
    if (beginnings.has(type)) break;
    const carried = data['event'];
    const target = data['seq'] ?? data['after'];
    const of = isObject(carried) ? ` ${String(carried['type'])}` : '';
    found.push(`${type}${typeof target === 'number' ? ` @${target}` : ''}${of}`);
  }
  return found;
}

/** The tree without what neither leads to a branch nor grew from it. */
function lineOf(root: BranchNode, branch: string): BranchNode {
  const parents = new Map<BranchNode, BranchNode>();
  let found: BranchNode = root;
  for (const { node } of drawnBranches(root)) {
    for (const child of node.children) parents.set(child, node);
    if (node.branch === branch) found = node;
  }
  for (let parent = parents.get(found); parent !== undefined; parent = parents.get(parent))
    found = { ...parent, children: [found] };
  return found;
}

function shapeOf(session: Session, { node, summary: held, edits }: TreeRow): Record<string, unknown> {
  const { branch, parent, reason, head } = node;
  const { events, outcome, startedAt, spending } = held;
  return { session: session.id, branch, parent, reason, edits, head, events, outcome, startedAt, usage: spending };
}

function treeTable(out: Output, session: Session, rows: readonly TreeRow[]): string[] {
  const columns: readonly Column<TreeRow>[] = [
    {
      title: 'BRANCH',
      value: ({ node, lead }) =>
        node.parent === null ? plain(session.id) : `${lead}${plain(node.branch)} @${node.parent.seq}`,
      flex: 2,
      widthMin: 16,
      style: (text, { node }) => (node.parent === null ? out.bold(text) : text),
    },
    { title: 'EVENTS', value: ({ summary: held }) => countText(held.events), align: 'right' },
    {
      title: 'OUTCOME',
      value: ({ summary: held }) => held.outcome ?? '',
      style: (text, { summary: held }) => out.style(outcomeStyle(held.outcome), text),
    },
    { title: 'WHY', value: ({ node }) => plain(node.reason ?? ''), flex: 3, widthMin: 12 },
    { title: 'EDITS', value: ({ edits }) => plain(edits.join(', ')), flex: 2, widthMin: 10 },
  ];
  return tableLines(rows, columns, { columns: out.columns, bold: (text) => out.bold(text) });
}
