import type { Event } from '../../core/event/event.ts';
import { compileFilter, type EventFilter } from '../../core/event/filter.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { parsePoint } from '../../core/ref.ts';
import type { Branch } from '../../engine/branch.ts';
import type { Session } from '../../engine/session.ts';
import { TaskEvents } from '../task-events.ts';

/** Which events to read, and in which order. */
export interface EventReading {
  readonly point: string;
  readonly filter: EventFilter;
  /** Reads only events that belong to this task: those that name it, and those that they led to. */
  readonly task?: string;
  readonly history: 'view' | 'raw';
  /** Reads at most this many events, from the end that comes first. */
  readonly limit?: number;
  /** Reads only this many of the last events. */
  readonly tail?: number;
  readonly isReverse: boolean;
  /** Continues with events as they are appended. */
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
  const { point: at, filter, history, limit, tail, isReverse, follows, task } = reading;
  if (task !== undefined) {
    yield* taskEvents(session, reading, task);
    return;
  }
  if (tail === undefined) {
    const direction = isReverse ? 'backward' : 'forward';
    yield* followed(session, at, follows).replay({ filter, history, direction, follow: follows, ...given({ limit }) });
    return;
  }
  // Decide first where following begins. Otherwise an event appended while the tail is read comes twice, or never.
  const { seq } = await session.at(at).locate();
  const shown = follows
    ? { ...reading, filter: { ...filter, through: Math.min(seq, filter.through ?? seq) } }
    : reading;
  if (isReverse) yield* session.at(at).replay({ filter, history, direction: 'backward', limit: tail });
  else if (tail <= heldMax) yield* (await lastEvents(session, shown, tail)).reverse();
  else yield* afterFirst(session, shown, Math.max(0, (await countEvents(session, shown)) - tail));
  if (follows)
    yield* followed(session, at, true).replay({
      filter,
      history,
      follow: true,
      after: Math.max(seq, filter.after ?? 0),
    });
}

/** Returns the branch of a point where its end is followed, else a look at the point. */
function followed(session: Session, point: string, follows: boolean): Pick<Branch, 'replay'> {
  return follows ? session.branch(parsePoint(point).branch) : session.at(point);
}

/** Reads the events of a task. They are found from the beginning on, so the last ones are held until all are found. */
async function* taskEvents(session: Session, reading: EventReading, task: string): AsyncGenerator<Event> {
  const { tail, isReverse, follows, limit = Number.POSITIVE_INFINITY } = reading;
  if (tail === undefined && !isReverse) {
    let count = 0;
    if (limit === 0) return;
    for await (const event of eventsOfTask(session, reading, { task, follows })) {
      yield event;
      if (++count >= limit) return;
    }
    return;
  }
  const held: Event[] = [];
  for await (const event of eventsOfTask(session, reading, { task, follows: false })) {
    held.push(event);
    if (held.length > (tail ?? limit)) held.shift();
  }
  yield* isReverse ? held.reverse() : held;
}

async function* eventsOfTask(
  session: Session,
  { point: at, filter, history }: EventReading,
  { task, follows }: { readonly task: string; readonly follows: boolean },
): AsyncGenerator<Event> {
  const [events, holds] = [new TaskEvents(task), compileFilter(filter)];
  for await (const event of followed(session, at, follows).replay({ history, follow: follows }))
    if (events.take(event) && holds(event)) yield event;
}

/** Counts the events that match, whatever the limit. */
export async function countEvents(session: Session, reading: EventReading): Promise<number> {
  const { point: at, filter, history, task } = reading;
  let count = 0;
  if (task !== undefined) {
    for await (const _ of eventsOfTask(session, reading, { task, follows: false })) count += 1;
    return count;
  }
  for await (const _ of session.at(at).replay({ filter, history })) count += 1;
  return count;
}

async function lastEvents(
  session: Session,
  { point: at, filter, history }: EventReading,
  tail: number,
): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of session.at(at).replay({ filter, history, direction: 'backward', limit: tail }))
    events.push(event);
  return events;
}

async function* afterFirst(
  session: Session,
  { point: at, filter, history }: EventReading,
  skipped: number,
): AsyncGenerator<Event> {
  let index = 0;
  for await (const event of session.at(at).replay({ filter, history })) if (index++ >= skipped) yield event;
}
