import type { SessionRef } from '../../../core/store/event-store.ts';
import type { Shelf } from '../shelf.ts';

/** Removes a session and everything in it; false if there was none. */
export function deleteSession(shelf: Shelf, { namespace, session }: SessionRef): boolean {
  return shelf.namespaces.get(namespace)?.delete(session) ?? false;
}
