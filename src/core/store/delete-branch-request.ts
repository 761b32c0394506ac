import { RepriseError } from '../error.ts';
import type { Digest } from '../point.ts';
import type { AppendRequest } from './append-request.ts';
import type { BranchSummary } from './branch-record.ts';
import type { BranchRef } from './session-ref.ts';
import { branchNotFound } from './store-state.ts';

/** A branch to delete. The engine plans all of it; the store carries it out atomically. */
export interface DeleteBranchRequest extends BranchRef {
  /** Parts that only this branch needs: the session lets them go. */
  readonly parts: readonly Digest[];
  /**
   * Every branch of the session, each with the digest at its head, as the caller read them; else `append.conflict`: a part
   * that was not needed then may be needed now.
   */
  readonly heads: readonly Pick<BranchSummary, 'branch' | 'digest'>[];
  /** The event on a different branch that records the deletion. */
  readonly append: AppendRequest;
}

/** Refuses to delete a branch that is not there, that others grow from, or of a session that has moved. */
export function checkDeletable(
  { session, branch, heads }: DeleteBranchRequest,
  held: readonly Pick<BranchSummary, 'branch' | 'digest' | 'parent'>[],
): void {
  const found = held.find((each) => each.branch === branch);
  if (found === undefined) throw branchNotFound({ session, branch }, 'delete');
  refuseInUse(session, found, held);
  const known = new Map(heads.map((each) => [each.branch, each.digest]));
  if (known.size === held.length && held.every((each) => known.get(each.branch) === each.digest)) return;
  throw new RepriseError('append.conflict', `Cannot delete branch "${branch}": someone wrote to session "${session}"`, {
    hint: 'Read what was appended since, and decide again.',
    details: { session, branch },
  });
}

/** Refuses a branch that others grow from, or that the session began with. */
export function refuseInUse(
  session: string,
  { branch, parent }: Pick<BranchSummary, 'branch' | 'parent'>,
  held: readonly Pick<BranchSummary, 'branch' | 'parent'>[],
): void {
  if (parent === undefined)
    throw new RepriseError('branch.in-use', `Cannot delete "${branch}": session "${session}" began with it`, {
      hint: 'Delete the whole session, or archive forks of it.',
      details: { session, branch },
    });
  const children = held.filter((each) => each.parent?.branch === branch).map((each) => each.branch);
  if (children.length === 0) return;
  const some = children.slice(0, 5).map((name) => `"${name}"`);
  throw new RepriseError(
    'branch.in-use',
    `Cannot delete "${branch}": ${some.join(', ')}${children.length > some.length ? ' and more' : ''} grow from it`,
    { hint: 'Delete those first, or archive the branch.', details: { session, branch, children } },
  );
}
