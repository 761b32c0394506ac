import type { StudioBranch } from '../source/answers.ts';

/** Where the line of a branch is drawn: parts of the width, and the row it leaves. */
export interface BranchLine {
  readonly from: number;
  readonly to: number;
  /** The row of its parent, if that is drawn above it. */
  readonly parentRow: number | undefined;
}

/** Places the branches of a session on one axis that ends at a seq. */
export function branchLines(
  rows: readonly Pick<StudioBranch, 'branch' | 'parent' | 'head'>[],
  last: number,
): readonly BranchLine[] {
  const rowOf = new Map<string, number>();
  return rows.map(({ branch, parent, head }, at) => {
    rowOf.set(branch, at);
    return {
      from: (parent?.seq ?? 0) / last,
      to: Math.min(1, head / last),
      parentRow: parent === null ? undefined : rowOf.get(parent.branch),
    };
  });
}
