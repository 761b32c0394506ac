import type { Event } from '../../core/event/event.ts';
import { storedJson } from '../../core/parts/decode.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';
import { type EventForm, headerOf, plainData, toEvent } from './stored-events.ts';

/** The form of events as JSON text. A payload that is stored as it reads is parsed, and never written again. */
export const asTexts: EventForm<string> = { plain: plainText, decoded: eventText };

/** Returns an event as JSON text. */
export function eventText(event: Event): string {
  return JSON.stringify(event);
}

function plainText(session: string, row: StoredEvent): string {
  const { data, digest } = row;
  // A line break between two values is JSON as well, and would end a line of text too early.
  if (data === null || row.erased || data.includes('\n')) return eventText(toEvent(session, row, plainData(row)));
  // Text that is not JSON was damaged, and must not be passed on.
  storedJson(data);
  return `${JSON.stringify(headerOf(session, row)).slice(0, -1)},"data":${data},"digest":${JSON.stringify(digest)}}`;
}
