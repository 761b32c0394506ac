import type { Point } from '../../../core/point.ts';
import type { SessionRef } from '../../../core/store/event-store.ts';
import { findHeld, type Shelf } from '../shelf.ts';

/** Returns the places of events of a session, by id; leaves out unknown ids. */
export function locate(shelf: Shelf, ref: SessionRef, ids: readonly string[]): ReadonlyMap<string, Point> {
  const places = findHeld(shelf, ref)?.places;
  const found = new Map<string, Point>();
  for (const id of ids) {
    const place = places?.get(id);
    if (place !== undefined) found.set(id, { branch: place.branch.name, seq: place.seq });
  }
  return found;
}
