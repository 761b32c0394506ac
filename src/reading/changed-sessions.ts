import type { SessionRecord } from '../core/store/event-store.ts';

/**
 * Returns true if a session changed at or after a time: its last event is that young, or the session itself is, whose
 * imported events may be older.
 */
export function isChangedSince(
  { createdAt, updatedAt }: Pick<SessionRecord, 'createdAt' | 'updatedAt'>,
  since: string,
): boolean {
  return updatedAt >= since || createdAt >= since;
}
