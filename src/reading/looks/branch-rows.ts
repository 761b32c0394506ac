import { limits } from '../../core/limits.ts';
import type { Session } from '../../engine/session.ts';
import { summary } from '../../projections/summary.ts';
import { editsOf, type TreeRow, treeRow } from '../answers/tree-rows.ts';
import { isArchived } from '../archived-branches.ts';
import { type DrawnBranch, drawnBranches } from '../branch-tree.ts';
import { shownWords } from './session-rows.ts';

/** One branch of a session, as the tree of the studio shows it. */
export interface BranchRow extends TreeRow {
  readonly title: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly durationMs: number | null;
  readonly turns: number;
  readonly silentSince: string | null;
  readonly archived: boolean;
  /** How many forks lie between it and the branch the session began with. */
  readonly depth: number;
}

/** A page of branches. */
export interface BranchPage {
  /** A parent comes before its children. */
  readonly branches: readonly BranchRow[];
  /** The last branch of this page, if more follow. */
  readonly next: string | undefined;
}

/** Reads the branches of a session a page at a time, after the branch that the page before ended with. */
export async function branchPage(
  session: Session,
  { after, archived: withArchived = false }: { readonly after?: string | undefined; readonly archived?: boolean },
): Promise<BranchPage> {
  const drawn = drawnBranches(await session.tree());
  const start = after === undefined ? 0 : drawn.findIndex(({ node }) => node.branch === after) + 1;
  const branches: BranchRow[] = [];
  for (const branch of drawn.slice(start)) {
    if (branches.length >= limits.shownRowsMax) return { branches, next: branches.at(-1)?.branch };
    const archived = await isArchived(session, branch.node);
    // A hidden branch still shows where something grows from it.
    if (archived && !withArchived && branch.node.children.length === 0) continue;
    branches.push(await branchRow(session, branch, archived));
  }
  return { branches, next: undefined };
}

async function branchRow(session: Session, drawn: DrawnBranch, archived: boolean): Promise<BranchRow> {
  const { node, lead } = drawn;
  const held = await session.branch(node.branch).fold(summary);
  const edits = node.parent === null ? [] : await editsOf(session, node);
  const { title, durationMs, turns, silentSince } = held;
  const { createdAt, updatedAt } = node;
  const row = treeRow(session, { ...drawn, summary: held, edits });
  const about = {
    title: shownWords(title),
    reason: shownWords(row.reason),
    outcome: shownWords(row.outcome),
    createdAt,
    updatedAt,
    durationMs,
    turns,
    silentSince,
    archived,
    depth: lead.length / leadWidth,
  };
  return { ...row, ...about };
}

/** The characters that each level of a drawn tree adds. */
const leadWidth = 3;
