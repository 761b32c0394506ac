import type { BranchNode } from '../core/session/session-log.ts';
import type { Session } from '../engine/session.ts';

/** A branch in a tree that is drawn as text. */
export interface DrawnBranch {
  readonly node: BranchNode;
  /** The lines of its ancestors and its own, to be drawn before its name: `│  └─ `. */
  readonly lead: string;
}

/** Lists the branches of a tree, each below its parent, with the lines that connect them. */
export function drawnBranches(root: BranchNode): DrawnBranch[] {
  const drawn: DrawnBranch[] = [];
  // A loop instead of recursion: ten thousand forks of forks overflow the stack.
  const open: { readonly node: BranchNode; readonly lead: string; readonly below: string }[] = [
    { node: root, lead: '', below: '' },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, lead, below } = next;
    drawn.push({ node, lead });
    for (const [index, child] of node.children.toReversed().entries()) {
      const isLast = index === 0;
      open.push({
        node: child,
        lead: `${below}${isLast ? '└─ ' : '├─ '}`,
        below: `${below}${isLast ? '   ' : '│  '}`,
      });
    }
  }
  return drawn;
}

/** Lists the branches of a session, each below its parent. */
export async function branchesOf(session: Session): Promise<BranchNode[]> {
  return drawnBranches(await session.tree()).map(({ node }) => node);
}

/** Counts the events that a branch stores itself. */
export function ownEvents({ head, parent }: BranchNode): number {
  return head - (parent?.seq ?? 0);
}

/** Cuts a tree down to one branch, its ancestors and everything forked from it. */
export function familyOf(root: BranchNode, branch: string): BranchNode {
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
