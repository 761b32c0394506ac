import type { Event } from '../../core/event/event.ts';
import type { EventFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import type { Session } from '../../engine/session.ts';

/** Which events to read, and in which order. */
export interface EventReading {
  readonly point: string;
  readonly filter: EventFilter;
  readonly history: 'view' | 'raw';
  /** Events at most, from the end that is shown first. */
  readonly limit?: number;
  /** Only so many of the last ones. */
  readonly tail?: number;
  readonly isReverse: boolean;
  /** Whether to go on with what is appended. */
  readonly follows: boolean;
}

// So many events are held to turn them around; a longer tail is counted first and then read from where it begins.
const heldMax = 5_000;

/** The events that are asked for, in the order they are shown in; none of it is held for longer than it must. */
export async function* readEvents(session: Session, reading: EventReading): AsyncGenerator<Event, void, undefined> {
  const { point: at, filter, history, limit, tail, isReverse, follows } = reading;
  const limited = given({ limit });
  if (tail === undefined) {
    yield* session.replay({
      at,
      filter,
      history,
      direction: isReverse ? 'backward' : 'forward',
      follow: follows,
      ...limited,
    });
    return;
  }
  // Where following begins is decided first: what is appended while the tail is read would be shown twice, or never.
  const { seq } = await session.locate(at);
  const shown = follows
    ? { ...reading, filter: { ...filter, through: Math.min(seq, filter.through ?? seq) } }
    : reading;
  if (isReverse) yield* session.replay({ at, filter, history, direction: 'backward', limit: tail });
  else if (tail <= heldMax) yield* (await lastEvents(session, shown, tail)).reverse();
  else yield* afterFirst(session, shown, Math.max(0, (await countEvents(session, shown)) - tail));
  if (follows) yield* session.replay({ at, filter, history, follow: true, after: Math.max(seq, filter.after ?? 0) });
}

/** How many events match, whatever is shown of them. */
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
