import type { Point } from '../core/point.ts';
import type { BranchSummary } from '../core/ports.ts';
import { type Engine, sessionRef } from './engine.ts';
import { sessionRecord } from './place.ts';

/** A branch and the branches forked from it. */
export interface BranchNode extends Omit<BranchSummary, 'parent'> {
  readonly parent: Point | null;
  readonly children: readonly BranchNode[];
}

/** The branches of a session as the tree they grew into, children in order of creation. */
export async function branchTree(engine: Engine, session: string): Promise<BranchNode> {
  const { root } = await sessionRecord(engine, session);
  const branches = await engine.store.branches(sessionRef(engine, session));
  const build = (summary: BranchSummary): BranchNode => ({
    ...summary,
    parent: summary.parent ?? null,
    children: branches.filter((held) => held.parent?.branch === summary.branch).map(build),
  });
  return build(branches.find((held) => held.branch === root) as BranchSummary);
}
