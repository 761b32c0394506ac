import { checkDeletable, type DeleteBranchRequest } from '../../../core/store/delete-branch-request.ts';
import type { AppendOutcome, Platform } from '../../../core/store/event-store.ts';
import { heldBranch, heldSession, type Shelf } from '../shelf.ts';
import { append } from './append.ts';
import { listBranches } from './branch.ts';

/** Removes a branch and everything that only it has; a refusal leaves everything as it was. */
export function deleteBranch(shelf: Shelf, platform: Platform, request: DeleteBranchRequest): AppendOutcome {
  const session = heldSession(shelf, request);
  checkDeletable(request, listBranches(shelf, request));
  // Only the append can be refused, so it comes first.
  const outcome = append(shelf, platform, request.append);
  const branch = heldBranch(session, request.branch);
  for (const event of branch.events) session.places.delete(event.id);
  session.snapshots.delete(branch.name);
  const digests = new Set(branch.events.map(({ digest }) => digest));
  for (const [key, receipt] of session.receipts) if (digests.has(receipt.digest)) session.receipts.delete(key);
  session.branches.delete(branch.name);
  const gone = new Set(request.parts);
  for (const digest of gone) {
    session.parts.delete(digest);
    for (const other of session.branches.values()) other.parts.delete(digest);
  }
  // Parts that others need count where the session began.
  const root = heldBranch(session, session.root);
  for (const digest of branch.parts) if (!gone.has(digest)) root.parts.add(digest);
  return outcome;
}
