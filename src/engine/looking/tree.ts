import { RepriseError } from '../../core/error.ts';
import type { BranchNode } from '../../core/session/session-log.ts';
import type { BranchSummary, SessionRecord } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { sessionRecord } from '../history/place.ts';
import { reasonsOf } from './lineage.ts';

/** Returns the branches of a session as the tree they grew into, children in order of creation. */
export async function branchTree(engine: Engine, session: string): Promise<BranchNode> {
  const { root } = await sessionRecord(engine, session);
  const summaries = await engine.store.branches(sessionRef(engine, session));
  return treeOf({ session, root }, summaries, await reasonsOf(engine, session, summaries));
}

/** Returns the tree of branches that were listed. */
export function treeOf(
  { session, root }: Pick<SessionRecord, 'session' | 'root'>,
  summaries: readonly BranchSummary[],
  reasons: ReadonlyMap<string, string>,
): BranchNode {
  const nodes = new Map<string, BranchNode & { readonly children: BranchNode[] }>();
  // A parent is created before its children, so it comes first.
  for (const summary of summaries) {
    const reason = reasons.get(summary.branch) ?? null;
    const node = { ...summary, parent: summary.parent ?? null, reason, children: [] };
    nodes.set(summary.branch, node);
    nodes.get(summary.parent?.branch ?? '')?.children.push(node);
  }
  const tree = nodes.get(root);
  if (tree !== undefined) return tree;
  throw new RepriseError(
    'store.damaged',
    `Cannot list the branches of session "${session}": it began with "${root}", which is missing`,
    { hint: 'Run "reprise doctor --verify", and restore a backup.', details: { session, branch: root } },
  );
}
