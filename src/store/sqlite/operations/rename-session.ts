import type { SessionRef } from '../../../core/store/event-store.ts';
import { checkReplaced, type RenameRequest } from '../../../core/store/session-request.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { sessionOf } from './append.ts';
import { listBranches } from './branch.ts';
import { hideSession } from './delete-session.ts';

/** Gives a session a new id, inside the caller's transaction. Returns the row of the one it replaced, to be cleared away. */
export function renameSession(
  database: Database,
  catalogue: Catalogue,
  ref: SessionRef,
  request: RenameRequest,
): number | undefined {
  const { id } = sessionOf(catalogue, ref);
  const other = { namespace: ref.namespace, session: request.to };
  const isTaken = catalogue.session(other) !== undefined;
  if (isTaken) checkReplaced(ref, request, listBranches(database, catalogue, other));
  const replaced = isTaken ? hideSession(database, catalogue, other) : undefined;
  database.run('UPDATE sessions SET name = ? WHERE id = ?', request.to, id);
  catalogue.forget();
  return replaced;
}
