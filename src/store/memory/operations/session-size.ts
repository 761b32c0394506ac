import type { SessionRef } from '../../../core/store/event-store.ts';
import type { SessionSize } from '../../../core/store/session-size.ts';
import { utf8Length } from '../../../core/utf8.ts';
import { findHeld, type Shelf } from '../shelf.ts';

/** Measures a session; undefined if there is none. */
export function sessionSize(shelf: Shelf, ref: SessionRef): SessionSize | undefined {
  const session = findHeld(shelf, ref);
  if (session === undefined) return undefined;
  const events = [...session.branches.values()].flatMap((branch) => branch.events);
  const snapshots = [...session.snapshots.values()].flatMap((held) => [...held.values()]);
  const sum = (texts: Iterable<string>): number => [...texts].reduce((bytes, text) => bytes + utf8Length(text), 0);
  return {
    branches: session.branches.size,
    events: events.length,
    eventBytes: sum(events.map(({ data }) => data ?? '')),
    partBytes: sum([...session.parts.values()].map(({ text }) => text)),
    snapshots: snapshots.length,
    snapshotBytes: sum(snapshots.map(({ value }) => value)),
  };
}
