import type { SessionRef } from '../../../core/store/event-store.ts';
import { checkReplaced, type RenameRequest } from '../../../core/store/session-request.ts';
import { findHeld, heldSession, type Shelf } from '../shelf.ts';

/** Gives a session a new id; replaces the session that has the id, if the request allows it. */
export function renameSession(shelf: Shelf, ref: SessionRef, request: RenameRequest): void {
  const { namespace } = ref;
  const session = heldSession(shelf, ref);
  const other = findHeld(shelf, { namespace, session: request.to });
  if (other !== undefined) {
    const heads = [...other.branches.values()].map(({ name, state }) => ({ branch: name, digest: state.digest }));
    checkReplaced(ref, request, heads);
  }
  const wall = shelf.namespaces.get(namespace);
  wall?.delete(ref.session);
  wall?.set(request.to, { ...session, session: request.to });
}
