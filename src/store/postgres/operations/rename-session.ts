import type { SessionRef } from '../../../core/store/event-store.ts';
import {
  checkReplaced,
  type RenameRequest,
  sessionExists,
  sessionNotFound,
} from '../../../core/store/session-request.ts';
import type { Queries } from '../connection.ts';
import { postgresCode } from '../postgres-error.ts';
import { lockSession, type SessionKey } from '../session-row.ts';
import { listBranches } from './branch.ts';
import { hideSession } from './delete-session.ts';
import { dropSnapshots } from './snapshots.ts';

/**
 * Gives a session a new id, inside the caller's transaction. Returns the one it replaced, to be cleared away. Does nothing
 * if an earlier try was committed after all.
 */
export async function renameSession(
  queries: Queries,
  ref: SessionRef,
  request: RenameRequest,
  isRepeated: boolean,
): Promise<SessionKey | undefined> {
  const session = await lockSession(queries, ref, { wholly: true });
  const other = { namespace: ref.namespace, session: request.to };
  const isTaken = (await lockSession(queries, other, { wholly: true })) !== undefined;
  if (session === undefined) {
    if (isRepeated && isTaken) return undefined;
    throw sessionNotFound(ref);
  }
  if (isTaken) checkReplaced(ref, request, await listBranches(queries, other));
  const replaced = isTaken ? await hideSession(queries, other, undefined) : undefined;
  // Refuses a user without the right to delete now, before anything has changed, and not while clearing away.
  if (replaced !== undefined) await dropSnapshots(queries, replaced);
  await giveName(queries, session, other);
  return replaced;
}

async function giveName(queries: Queries, { namespaceId, id }: SessionKey, ref: SessionRef): Promise<void> {
  try {
    await queries.run(
      'UPDATE sessions SET name = $3 WHERE namespace_id = $1 AND id = $2',
      namespaceId,
      id,
      ref.session,
    );
  } catch (error) {
    // A name without a session cannot be locked, so a different writer may take it at the same time.
    throw postgresCode(error) === uniqueViolation ? sessionExists(ref, 'rename a session to') : error;
  }
}

const uniqueViolation = '23505';
