import { RepriseError } from '../error.ts';
import type { BranchRef } from './session-ref.ts';

/** The error for a call to a store that was closed. */
export function storeClosed(): RepriseError {
  return new RepriseError('store.closed', 'Cannot use the store: it was closed', { hint: 'Open it again.' });
}

/** The error for a write to a store that is open for reading only. */
export function storeReadOnly(location: string, hint: string): RepriseError {
  return new RepriseError('store.read-only', `Cannot write to "${location}": it is open for reading only`, { hint });
}

/** The error for a branch that does not exist. */
export function branchNotFound(ref: Omit<BranchRef, 'namespace'>, attempted = 'find branch'): RepriseError {
  const { session, branch } = ref;
  return new RepriseError(
    'branch.not-found',
    `Cannot ${attempted} "${branch}": session "${session}" has no branch of that name`,
    { hint: 'List the branches of the session.', details: { session, branch } },
  );
}
