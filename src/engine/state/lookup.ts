import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import type { KeySelector } from '../../core/event/keys.ts';
import { parseKey } from '../../core/event/keys.ts';
import { stateKey } from '../../core/event/state-key.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { mayHoldRefs } from '../../core/parts/parts.ts';
import type { Seq } from '../../core/point.ts';
import type { LatestPage, StoredEvent } from '../../core/store/event-store.ts';
import { segmentsBefore, segmentsOf } from '../../core/view/segment.ts';
import { type Segment, type ViewPoint, viewAt } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { wrongKey } from '../history/keyed.ts';
import type { Place } from '../history/place.ts';
import { dataOf, decoderFor, plainData, toEvent, unwrap } from '../history/stored-events.ts';
import {
  erasedValue,
  neverWritten,
  operationsOn,
  type StateOperation,
  type StateValue,
  type StateVersion,
  valueAfter,
  versionOf,
} from './entry.ts';

/** The segments of a view in which state is looked up. */
export interface StateView {
  readonly engine: Engine;
  readonly session: string;
  readonly segments: readonly Segment[];
}

/** A key and its agent. */
export interface KeyOf {
  readonly agent: string;
  readonly key: string;
}

/** Returns the view at a place, for looking up state. */
export function stateView(engine: Engine, { session, history, seq }: Place): StateView {
  return { engine, session, segments: segmentsOf(viewAt(history, seq)) };
}

/** Reads the value of a key. */
export async function valueOf(view: StateView, of: KeyOf): Promise<StateValue> {
  const event = await lastEvent(view, of);
  return event === undefined ? neverWritten(of.agent, of.key) : valueIn(view, event, of);
}

/**
 * Reads the value of a key at a point of a branch with one call to the store; undefined if there is no such point, or
 * the payload was erased.
 */
export async function valueAt(
  engine: Engine,
  session: string,
  view: ViewPoint,
  of: KeyOf,
): Promise<StateValue | undefined> {
  const select = { keys: [stateKey(of.agent, of.key)] };
  const page = await engine.store.latest(sessionRef(engine, session), view, select, onlyOne);
  const row = page.entries[0]?.event;
  if (row === undefined) return page.head === undefined ? undefined : neverWritten(of.agent, of.key);
  const event = await eventIn(engine, session, row);
  return event.erased === true ? undefined : valueOn(event, of);
}

/**
 * Reads the versions of keys at a point of a branch, and its head, with one call to the store; undefined as for one
 * key.
 */
export async function versionsAt(
  engine: Engine,
  session: string,
  view: ViewPoint,
  keys: readonly string[],
): Promise<{ readonly head: Seq; readonly versions: ReadonlyMap<string, number> } | undefined> {
  const page = await engine.store.latest(sessionRef(engine, session), view, { keys }, aPage);
  if (page.head === undefined || page.next !== undefined) return undefined;
  const versions = new Map<string, number>();
  for (const { key, event } of (await decoded(engine, session, page)).keyed) {
    if (event.erased === true) return undefined;
    const { owner, name } = parseKey(key);
    versions.set(key, valueOn(event, { agent: owner, key: name }).version);
  }
  return { head: page.head, versions };
}

/** Reads the values of several keys, by their key in the index; those never written are left out. */
export async function valuesOf(view: StateView, of: readonly KeyOf[]): Promise<Map<string, StateValue>> {
  const found = new Map<string, StateValue>();
  const byKey = new Map(of.map((one) => [stateKey(one.agent, one.key), one]));
  for await (const { key, event } of lastEvents(view, { keys: [...byKey.keys()] }))
    found.set(key, await valueIn(view, event, byKey.get(key) as KeyOf));
  return found;
}

/** Yields the keys of an agent with a prefix that have a value, or had one that was erased, by their UTF-8 bytes. */
export async function* scanState(
  view: StateView,
  agent: string,
  prefix: string,
): AsyncGenerator<StateValue, void, undefined> {
  for await (const { key, event } of lastEvents(view, { prefix: stateKey(agent, prefix) })) {
    const value = await valueIn(view, event, { agent, key: parseKey(key).name });
    if (value.exists || value.erased === true) yield value;
  }
}

/** Yields every version of a key, the last first. */
export async function* versionsOf(view: StateView, of: KeyOf): AsyncGenerator<StateVersion, void, undefined> {
  let { segments } = view;
  for (;;) {
    const event = await lastEvent({ ...view, segments }, of);
    if (event === undefined) return;
    const rest = segmentsBefore(segments, event);
    if (event.erased === true) {
      const version = (await versionUpTo({ ...view, segments: rest }, of)) + 1;
      yield versionOf(event, erasedValue(event, of, version));
    } else {
      lastOn(event, of);
      for (const operation of operationsOn(event, of.agent, of.key).toReversed())
        yield versionOf(event, valueAfter(event, operation), operation.op);
    }
    segments = rest;
  }
}

/** Returns the version of a key. An erased commit has lost its number, but counts as one. */
export async function versionUpTo(view: StateView, of: KeyOf): Promise<number> {
  const { known = 0, erased } = await countedTo(view, of);
  return known + erased;
}

/** Returns the last known version of a key, and how many erased commits follow it. */
export async function countedTo(
  view: StateView,
  of: KeyOf,
): Promise<{ readonly known?: number; readonly erased: number }> {
  let erased = 0;
  let { segments } = view;
  for (;;) {
    const event = await lastEvent({ ...view, segments }, of);
    if (event === undefined) return { erased };
    if (event.erased !== true) return { known: lastOn(event, of).version, erased };
    erased += 1;
    segments = segmentsBefore(segments, event);
  }
}

/** Returns the value that an event gave a key. */
async function valueIn(view: StateView, event: Event, of: KeyOf): Promise<StateValue> {
  if (event.erased !== true) return valueOn(event, of);
  const before = { ...view, segments: segmentsBefore(view.segments, event) };
  return erasedValue(event, of, (await versionUpTo(before, of)) + 1);
}

/** Returns the value that an event gave a key, if its payload was not erased. */
function valueOn(event: Event, of: KeyOf): StateValue {
  return valueAfter(event, lastOn(event, of));
}

/** Returns the last operation of an event on a key. The index named the event, so there is one, or the index is wrong. */
function lastOn(event: Event, { agent, key }: KeyOf): StateOperation {
  const last = operationsOn(event, agent, key).at(-1);
  if (last !== undefined) return last;
  throw wrongKey(event, stateKey(agent, key));
}

/** Reads the last event of one key. */
export async function lastEvent(
  { engine, session, segments }: StateView,
  { agent, key }: KeyOf,
): Promise<Event | undefined> {
  if (segments.length === 0) return undefined;
  const select = { keys: [stateKey(agent, key)] };
  const page = await engine.store.latest(sessionRef(engine, session), segments, select, onlyOne);
  const row = page.entries[0]?.event;
  return row === undefined ? undefined : eventIn(engine, session, row);
}

async function eventIn(engine: Engine, session: string, row: StoredEvent): Promise<Event> {
  engine.onRead(1);
  const isPlain = row.data === null || !mayHoldRefs(row.data);
  const data = isPlain ? plainData(row) : dataOf(row, await decoderFor(engine, session, [row]));
  return shown(session, row, data);
}

const onlyOne = { limit: 1, select: 'full' } as const;
const aPage = { limit: limits.pageEventsMax, select: 'full' } as const;

/** Yields the last event under each key, in the order of keys, a page of the index at a time. */
async function* lastEvents({ engine, session, segments }: StateView, select: KeySelector): AsyncGenerator<KeyedEvent> {
  if (segments.length === 0) return;
  let after: string | undefined;
  let known: ReadonlyMap<string, Event> = new Map();
  do {
    const page: LatestPage = await engine.store.latest(sessionRef(engine, session), segments, select, {
      limit: limits.pageEventsMax,
      select: 'full',
      ...given({ after }),
    });
    engine.onRead(page.entries.length);
    const { keyed, events } = await decoded(engine, session, page, known);
    yield* keyed;
    known = events;
    after = page.next;
  } while (after !== undefined);
}

interface KeyedEvent {
  readonly key: string;
  readonly event: Event;
}

/**
 * Decodes the entries of a page. A transaction can be the last event of many keys, on this page and the one before: it is
 * parsed once.
 */
async function decoded(
  engine: Engine,
  session: string,
  { entries }: LatestPage,
  known: ReadonlyMap<string, Event> = new Map(),
): Promise<{ readonly keyed: readonly KeyedEvent[]; readonly events: ReadonlyMap<string, Event> }> {
  const rows = new Map(entries.map(({ event }) => [`${event.branch}@${event.seq}`, event]));
  const decoder = await decoderFor(
    engine,
    session,
    [...rows].filter(([point]) => !known.has(point)).map(([, row]) => row),
  );
  const events = new Map<string, Event>();
  for (const [point, row] of rows) events.set(point, known.get(point) ?? shown(session, row, dataOf(row, decoder)));
  const keyed = entries.map(({ key, event: { branch, seq } }) => ({
    key,
    event: events.get(`${branch}@${seq}`) as Event,
  }));
  return { keyed, events };
}

function shown(session: string, row: StoredEvent, data: JsonObject): Event {
  const event = toEvent(session, row, data);
  return isStructural(event.type) ? unwrap(event) : event;
}
