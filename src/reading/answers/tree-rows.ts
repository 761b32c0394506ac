import type { Point, Seq } from '../../core/point.ts';
import type { Spending } from '../../core/recording/spending.ts';
import type { BranchNode } from '../../core/session/session-log.ts';
import type { Session } from '../../engine/session.ts';
import { type Summary, summary } from '../../projections/summary.ts';
import { detailOf } from '../../wording/event-gist.ts';
import { beginningOf } from '../../wording/text.ts';
import { type DrawnBranch, drawnBranches, familyOf } from '../branch-tree.ts';

/** One branch of a tree, as `reprise tree --json` prints it. */
export interface TreeRow {
  readonly session: string;
  readonly branch: string;
  readonly parent: Point | null;
  readonly reason: string | null;
  /** The edits the branch was made with, in words. */
  readonly edits: readonly string[];
  readonly head: Seq;
  readonly events: number;
  readonly outcome: string | null;
  readonly startedAt: string | null;
  readonly usage: Spending;
}

/** A whole tree as one object. */
export interface TreeAnswer {
  readonly session: string;
  readonly branches: readonly TreeRow[];
}

/** A branch of a tree that was read. */
export interface TreeBranch extends DrawnBranch {
  readonly summary: Summary;
  /** The edits the branch was made with, in words; empty unless they were asked for. */
  readonly edits: readonly string[];
}

/** Reads one branch of a session with its ancestors and everything forked from it. */
export async function readTree(
  session: Session,
  branch: string,
  { withEdits }: { readonly withEdits: boolean },
): Promise<TreeBranch[]> {
  const branches: TreeBranch[] = [];
  for (const drawn of drawnBranches(familyOf(await session.tree(), branch))) {
    const held = await session.branch(drawn.node.branch).fold(summary);
    const edits = withEdits && drawn.node.parent !== null ? await editsOf(session, drawn.node) : [];
    branches.push({ ...drawn, summary: held, edits });
  }
  return branches;
}

/** Returns the JSON row of a branch. */
export function treeRow(session: Session, { node, summary: held, edits }: TreeBranch): TreeRow {
  const { branch, parent, reason, head } = node;
  const { events, outcome, startedAt, spending: usage } = held;
  return { session: session.id, branch, parent, reason, edits, head, events, outcome, startedAt, usage };
}

/** The types that begin live work. Everything before the first of them is what the branch was made with. */
const beginnings: ReadonlySet<string> = new Set(['run.started', 'turn.started', 'call.started', 'task.started']);
const editsMax = 20;
/** Columns of the description of an edit. */
const editColumns = 160;

/** Returns the edits that a branch was made with, in words. */
export async function editsOf(session: Session, { branch, parent }: BranchNode): Promise<string[]> {
  const found: string[] = [];
  const own = { history: 'raw', after: (parent?.seq ?? 0) + 1, limit: editsMax } as const;
  for await (const event of session.branch(branch).replay(own)) {
    if (beginnings.has(event.type)) break;
    const detail = beginningOf(detailOf(event), editColumns);
    found.push(detail === '' ? event.type : `${event.type}  ${detail}`);
  }
  return found;
}
