import { checkDeletable, type DeleteBranchRequest } from '../../../core/store/delete-branch-request.ts';
import type { AppendOutcome, Platform } from '../../../core/store/event-store.ts';
import { sessionNotFound } from '../../../core/store/session-request.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { lockSession, type SessionRow } from '../session-row.ts';
import { AppendGroup } from './append.ts';
import { listBranches } from './branch.ts';
import { findPlaces } from './locate.ts';
import { forgetParts } from './parts.ts';

/** The outcome of the append that records a deletion, and its group, whose caches are updated after the commit. */
interface Deletion {
  readonly outcome: AppendOutcome;
  readonly group: AppendGroup;
}

/**
 * Removes a branch and everything that only it has, inside the caller's transaction; a refusal undoes all of it. The
 * recorded event shows whether an earlier try was committed after all.
 */
export async function deleteBranch(
  queries: Queries,
  catalogue: Catalogue,
  platform: Platform,
  request: DeleteBranchRequest,
  isRepeated: boolean,
): Promise<Deletion> {
  const session = await lockSession(queries, request, { wholly: true });
  if (session === undefined) throw sessionNotFound(request);
  const group = new AppendGroup(queries, catalogue, platform);
  const ids = request.append.events.map(({ id }) => id);
  const isDone = isRepeated && (await findPlaces(queries, session, ids)).size === ids.length;
  if (!isDone) checkDeletable(request, await listBranches(queries, request));
  await group.prepare([request.append]);
  const outcome = await group.judge(request.append);
  if (isDone || !outcome.ok) return { outcome: outcome.ok ? { ...outcome, known: false } : outcome, group };
  await group.write();
  await removeRows(queries, session, request);
  return { outcome, group };
}

async function removeRows(
  queries: Queries,
  { namespaceId, id, root }: SessionRow,
  { branch, parts }: DeleteBranchRequest,
): Promise<void> {
  const session = { namespaceId, id };
  const [branchId] = await queries.one<[number]>(
    'SELECT id FROM branches WHERE namespace_id = $1 AND session_id = $2 AND name = $3',
    namespaceId,
    id,
    branch,
  );
  await forgetParts(queries, session, parts);
  // Parts that others need count where the session began.
  await queries.run(
    `WITH kept AS (
       UPDATE part_holders h SET branch_id = r.id FROM branches r
       WHERE r.namespace_id = $1 AND r.session_id = $2 AND r.name = $4
         AND h.namespace_id = $1 AND h.session_id = $2 AND h.branch_id = $3 RETURNING h.bytes
     )
     UPDATE branches SET part_bytes = part_bytes + (SELECT coalesce(sum(bytes), 0) FROM kept)
     WHERE namespace_id = $1 AND session_id = $2 AND name = $4`,
    namespaceId,
    id,
    branchId,
    root,
  );
  await queries.run(
    `DELETE FROM receipts WHERE namespace_id = $1 AND session_id = $2 AND digest IN (
       SELECT digest FROM events WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3)`,
    namespaceId,
    id,
    branchId,
  );
  for (const table of ['event_keys', 'events', 'snapshots'])
    await queries.run(
      `DELETE FROM ${table} WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3`,
      namespaceId,
      id,
      branchId,
    );
  await queries.run(
    'DELETE FROM branches WHERE namespace_id = $1 AND session_id = $2 AND id = $3',
    namespaceId,
    id,
    branchId,
  );
}
