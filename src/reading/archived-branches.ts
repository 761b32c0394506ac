import type { BranchNode } from '../core/session/session-log.ts';
import { archivedKey } from '../engine/changing/archive-branch.ts';
import type { Session } from '../engine/session.ts';
import { drawnBranches } from './branch-tree.ts';

/** Returns the names of the archived branches of a session. */
export async function archivedBranches(session: Session, tree: BranchNode): Promise<ReadonlySet<string>> {
  const archived = new Set<string>();
  for (const { node } of drawnBranches(tree)) {
    if (node.parent === null) continue;
    const held = await session.metadata({ branch: node.branch });
    if (held[archivedKey] !== undefined) archived.add(node.branch);
  }
  return archived;
}
