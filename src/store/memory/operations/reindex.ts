import { clockAtStart, clockWith } from '../../../core/event/clock.ts';
import { erasedKeys } from '../../../core/store/event-keys.ts';
import { type HeldSession, indexEvent } from '../shelf.ts';
import { eventKeys } from './erase.ts';

/** Rebuilds the key index and the clocks of a session from its events. */
export function reindex(session: HeldSession): void {
  for (const branch of session.branches.values()) {
    branch.keys.clear();
    branch.clocks.length = 0;
    for (const event of branch.events) branch.clocks.push(clockWith(branch.clocks.at(-1) ?? clockAtStart, event));
    branch.sortedKeys = undefined;
    const kept = new Map(
      branch.events.flatMap((event) => (event.type === 'payload.erased' ? [...erasedKeys(event.data ?? '{}')] : [])),
    );
    for (const event of branch.events)
      for (const key of kept.get(event.seq) ?? eventKeys(session, event)) indexEvent(branch, key, event.seq);
  }
}
