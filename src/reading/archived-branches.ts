import type { BranchNode } from '../core/session/session-log.ts';
import { archivedKey } from '../engine/changing/archive-branch.ts';
import type { Session } from '../engine/session.ts';
import { drawnBranches } from './branch-tree.ts';

/** Returns the names of the archived branches of a session. */
export async function archivedBranches(session: Session, tree: BranchNode): Promise<ReadonlySet<string>> {
  const archived = new Set<string>();
  for (const { node } of drawnBranches(tree)) {
    if (await isArchived(session, node)) archived.add(node.branch);
  }
  return archived;
}

/** Returns true if a branch is archived; the first one of a session never is. */
export async function isArchived(session: Session, { branch, parent }: BranchNode): Promise<boolean> {
  return parent !== null && (await session.branch(branch).metadata())[archivedKey] !== undefined;
}
