import type { SessionRecord } from '../../core/store/event-store.ts';

/** Returns a string that differs once something in a session is erased, or the session is deleted or made anew. */
export function erasureStamp(record: SessionRecord | undefined): string {
  return record === undefined ? '' : `${record.genesis} ${record.erasures}`;
}
