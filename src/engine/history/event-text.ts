import type { Event } from '../../core/event/event.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';
import { type EventForm, plainData, toEvent } from './stored-events.ts';

/** The form of events as JSON text. A payload that is stored as it reads is passed on as it is stored. */
export const asTexts: EventForm<string> = { plain: plainText, decoded: eventText };

/** Returns an event as JSON text. */
export function eventText(event: Event): string {
  return JSON.stringify(event);
}

const text: (value: string) => string = JSON.stringify;

/** Writes the fields of {@link toEvent} in their order. A reader of many events waits for little else. */
function plainText(session: string, row: StoredEvent): string {
  const { data, agent, run, cause, causeSeq } = row;
  if (data === null || row.erased || !isOneObject(data)) return eventText(toEvent(session, row, plainData(row)));
  return (
    `{"session":${text(session)},"branch":${text(row.branch)},"seq":${row.seq},"id":${text(row.id)},` +
    `"time":${text(row.time)},"type":${text(row.type)},"version":${row.version}` +
    (agent === null ? '' : `,"agent":${text(agent)}`) +
    (run === null ? '' : `,"run":${text(run)}`) +
    `,"turn":${row.turn}` +
    (cause === null ? '' : `,"cause":${text(cause)}`) +
    (causeSeq === null ? '' : `,"causeSeq":${causeSeq}`) +
    `,"data":${data},"digest":${text(row.digest)}}`
  );
}

/**
 * Returns true if stored text looks like an object in one line. Text that was cut does not, and is refused where it is
 * parsed; a line break between two values is JSON as well, and would end the line of an event too early.
 */
function isOneObject(data: string): boolean {
  return data.startsWith('{') && data.endsWith('}') && !data.includes('\n');
}
