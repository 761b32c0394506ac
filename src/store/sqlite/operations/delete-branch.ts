import { checkDeletable, type DeleteBranchRequest } from '../../../core/store/delete-branch-request.ts';
import type { AppendOutcome, Platform } from '../../../core/store/event-store.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { append, heldBranch, sessionOf } from './append.ts';
import { listBranches } from './branch.ts';
import { forgetParts } from './parts.ts';

/**
 * Removes a branch and everything that only it has, inside the caller's transaction; a refusal undoes all of it. It is
 * one transaction however long the branch is: half a branch must never be seen, and its row id may be given again.
 */
export function deleteBranch(
  database: Database,
  catalogue: Catalogue,
  platform: Platform,
  request: DeleteBranchRequest,
): AppendOutcome {
  const session = sessionOf(catalogue, request);
  checkDeletable(request, listBranches(database, catalogue, request));
  const outcome = append(database, catalogue, platform, request.append);
  const { id } = heldBranch(catalogue, session, request.branch);
  const root = heldBranch(catalogue, session, session.root);
  forgetParts(database, session, request.parts);
  // Parts that others need count where the session began.
  const [bytes] = database.one<[number]>(
    'SELECT coalesce(sum(bytes), 0) FROM part_holders WHERE session_id = ? AND branch_id = ?',
    session.id,
    id,
  );
  database.run('UPDATE branches SET erased_bytes = erased_bytes - ? WHERE id = ?', bytes, root.id);
  database.run('UPDATE part_holders SET branch_id = ? WHERE session_id = ? AND branch_id = ?', root.id, session.id, id);
  database.run(
    'DELETE FROM receipts WHERE session_id = ? AND digest IN (SELECT digest FROM events WHERE branch_id = ?)',
    session.id,
    id,
  );
  for (const table of ['event_keys', 'clocks', 'events', 'snapshots'])
    database.run(`DELETE FROM ${table} WHERE branch_id = ?`, id);
  database.run('DELETE FROM branches WHERE id = ?', id);
  catalogue.forget();
  return outcome;
}
