import type { Event } from '../core/event/event.ts';
import type { EventFilter } from '../core/event/filter.ts';
import { given, type JsonObject } from '../core/json.ts';
import type { Session } from '../engine/session.ts';

/** Which events to read, and in which order. */
export interface EventReading {
  readonly point: string;
  readonly filter: EventFilter;
  readonly history: 'view' | 'raw';
  /** Reads at most this many events, from the end that comes first. */
  readonly limit?: number;
  /** Reads only this many of the last events. */
  readonly tail?: number;
  readonly isReverse: boolean;
  /** Goes on with events as they are appended. */
  readonly follows: boolean;
}

/** A history as one object, as `reprise replay --json=object` prints it. */
export interface ReplayAnswer {
  readonly ref: string;
  readonly metadata: JsonObject;
  readonly events: readonly Event[];
  /** How many events match, whatever the limit. */
  readonly totalMatched: number;
  readonly fingerprint: string;
}

// A shorter tail is held in memory to reverse it. A longer one is counted first and then read from where it begins.
const heldMax = 5_000;

/** Reads events in the order in which they are shown, holding as few of them as possible. */
export async function* readEvents(session: Session, reading: EventReading): AsyncGenerator<Event, void, undefined> {
  const { point: at, filter, history, limit, tail, isReverse, follows } = reading;
  if (tail === undefined) {
    const direction = isReverse ? 'backward' : 'forward';
    yield* session.replay({ at, filter, history, direction, follow: follows, ...given({ limit }) });
    return;
  }
  // Decide first where following begins. Otherwise an event appended while the tail is read comes twice, or never.
  const { seq } = await session.locate(at);
  const shown = follows
    ? { ...reading, filter: { ...filter, through: Math.min(seq, filter.through ?? seq) } }
    : reading;
  if (isReverse) yield* session.replay({ at, filter, history, direction: 'backward', limit: tail });
  else if (tail <= heldMax) yield* (await lastEvents(session, shown, tail)).reverse();
  else yield* afterFirst(session, shown, Math.max(0, (await countEvents(session, shown)) - tail));
  if (follows) yield* session.replay({ at, filter, history, follow: true, after: Math.max(seq, filter.after ?? 0) });
}

/** Counts the events that match, whatever the limit. */
export async function countEvents(session: Session, { point: at, filter, history }: EventReading): Promise<number> {
  let count = 0;
  for await (const _ of session.replay({ at, filter, history })) count += 1;
  return count;
}

async function lastEvents(
  session: Session,
  { point: at, filter, history }: EventReading,
  tail: number,
): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of session.replay({ at, filter, history, direction: 'backward', limit: tail }))
    events.push(event);
  return events;
}

async function* afterFirst(
  session: Session,
  { point: at, filter, history }: EventReading,
  skipped: number,
): AsyncGenerator<Event> {
  let index = 0;
  for await (const event of session.replay({ at, filter, history })) if (index++ >= skipped) yield event;
}
