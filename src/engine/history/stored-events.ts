import { type CarriedEvent, type Event, erasedData } from '../../core/event/event.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { DataDecoder, type ListEdits, refsIn, storedJson } from '../../core/parts/decode.ts';
import { mayHoldRefs, type PartInput } from '../../core/parts/parts.ts';
import type { Digest, Point, Seq } from '../../core/point.ts';
import type { Cursor, Page, PageRequest, PartsRequest, StoredEvent } from '../../core/store/event-store.ts';
import { sessionNotFound } from '../../core/store/session-request.ts';
import { segmentAt } from '../../core/view/segment.ts';
import type { Segment } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';

/** How to read stored rows a page at a time: forward, in the largest pages, unless it says otherwise. */
export interface RowsRequest extends Omit<PageRequest, 'cursor' | 'limit' | 'direction'> {
  readonly limit?: number;
  /** The size of the first page; the same as the others if left out. */
  readonly firstLimit?: number;
  readonly direction?: 'forward' | 'backward';
}

/** Reads the rows of some segments, one page of the store after the other. Nothing stays open between two pages. */
export async function* pages(
  engine: Engine,
  session: string,
  segments: readonly Segment[],
  request: RowsRequest,
): AsyncGenerator<readonly StoredEvent[], void, undefined> {
  for await (const { events } of wholePages(engine, session, segments, request)) yield events;
}

/** Reads rows as {@link pages} does, along with the parts that the store brings with them. */
async function* wholePages(
  engine: Engine,
  session: string,
  segments: readonly Segment[],
  { limit = limits.pageEventsMax, firstLimit = limit, direction = 'forward', ...request }: RowsRequest,
): AsyncGenerator<Page, void, undefined> {
  const ref = sessionRef(engine, session);
  let cursor: Cursor | undefined;
  do {
    const page = await engine.store.read(ref, segments, {
      ...request,
      limit: cursor === undefined ? firstLimit : limit,
      direction,
      ...given({ cursor }),
    });
    yield page;
    cursor = page.next;
  } while (cursor !== undefined);
}

/** The ids of the events that each replacement of a view replaced, by the seq of the replacement. */
export type ReplacedIds = ReadonlyMap<Seq, readonly string[]>;

/** How to read decoded events. */
export interface EventsRequest extends Pick<RowsRequest, 'limit' | 'firstLimit' | 'direction' | 'filter'> {
  /** The edits that recorded lists are read through. */
  readonly listEdits?: ListEdits | undefined;
  /** The ids that replacements answer to, by their seq. */
  readonly replacedIds?: ReplacedIds | undefined;
  /** Fields of `data` that the caller does not use: their parts are not read. */
  readonly without?: readonly string[];
}

/** Some decoded events, or their texts, with the bytes of their payloads in the store. */
export interface EventsBatch<Item = Event> {
  readonly events: readonly Item[];
  readonly bytes: number;
}

/** The form in which a reader gets events. */
export interface EventForm<Item> {
  /** Makes an item of a row whose data refers to no parts. */
  readonly plain: (session: string, row: StoredEvent) => Item;
  /** Makes an item of an event that had to be put together. */
  readonly decoded: (event: Event) => Item;
}

/** The form of events as every verb returns them. */
export const asEvents: EventForm<Event> = {
  plain: (session, row) => toEvent(session, row, plainData(row)),
  decoded: (event) => event,
};

/**
 * Reads decoded events in order; carried events come out of their markers. A batch is a page of the store, or less: a
 * page of small differences can expand to large bodies, which are not all in memory at once.
 */
export function readEvents(
  engine: Engine,
  session: string,
  segments: readonly Segment[],
  request: EventsRequest = {},
): AsyncGenerator<EventsBatch, void, undefined> {
  return readForms(engine, session, segments, request, asEvents);
}

/** Reads events as {@link readEvents} does, in a form of the caller. */
export async function* readForms<Item>(
  engine: Engine,
  session: string,
  segments: readonly Segment[],
  request: EventsRequest,
  form: EventForm<Item>,
): AsyncGenerator<EventsBatch<Item>, void, undefined> {
  const { listEdits: _, without: __, replacedIds: ___, ...rows } = request;
  const carried = new Set(segments.filter((segment) => segment.carried).map((segment) => segment.through));
  // Without some fields, fewer parts are needed than the store would bring.
  const whole = { ...rows, select: 'full', withParts: request.without === undefined } as const;
  for await (const page of wholePages(engine, session, segments, whole)) {
    engine.onRead(page.events.length);
    yield* batchesOf({ engine, session, carried, form }, page, request);
  }
}

/** The session that is read, and the form of its events. */
interface Reading<Item> {
  readonly engine: Engine;
  readonly session: string;
  /** The markers that represent the events that they carry. */
  readonly carried: ReadonlySet<Seq>;
  readonly form: EventForm<Item>;
}

async function* batchesOf<Item>(
  { engine, session, carried, form }: Reading<Item>,
  { events: stored, parts }: Page,
  { listEdits, without, replacedIds }: EventsRequest,
): AsyncGenerator<EventsBatch<Item>> {
  const rows = without === undefined ? stored : stored.map((row) => stripped(row, without));
  const holding = new Set(rows.filter((row) => row.data !== null && mayHoldRefs(row.data)));
  const decoder =
    holding.size === 0 ? undefined : await decoderFor(engine, session, [...holding], { listEdits, parts });
  let [events, bytes, bodies]: [Item[], number, number] = [[], 0, 0];
  for (const row of rows) {
    bytes += row.data?.length ?? 0;
    const isHolding = decoder !== undefined && holding.has(row);
    const isCarried = carried.size > 0 && carried.has(row.seq);
    if (!isHolding && !isCarried) events.push(form.plain(session, row));
    else {
      const data = isHolding ? decoder.decode(row.data as string, row.seq) : plainData(row);
      const event = toEvent(session, row, data);
      events.push(form.decoded(isCarried ? unwrap(event, replacedIds) : event));
    }
    if (decoder === undefined || decoder.bodyLength - bodies < limits.batchBodiesMax) continue;
    yield { events, bytes };
    [events, bytes, bodies] = [[], 0, decoder.bodyLength];
  }
  yield { events, bytes };
}

/** Drops some fields of a row's data. An event that a marker carries is inside a different field, and stays whole. */
function stripped(row: StoredEvent, without: readonly string[]): StoredEvent {
  if (row.data === null || !mayHoldRefs(row.data)) return row;
  const data = storedJson(row.data) as Record<string, unknown>;
  for (const field of without) delete data[field];
  return { ...row, data: JSON.stringify(data) };
}

/** Returns the data of a row that refers to no parts. */
export function plainData(row: StoredEvent): JsonObject {
  if (row.data === null) return row.erased ? erasedData : {};
  return storedJson(row.data) as JsonObject;
}

/** Reads everything of a few segments at once; for targets of verbs, not for histories. */
export async function readAll(
  engine: Engine,
  session: string,
  segments: readonly Segment[],
  listEdits?: ListEdits,
): Promise<Event[]> {
  const all: Event[] = [];
  for await (const { events } of readEvents(engine, session, segments, { listEdits })) all.push(...events);
  return all;
}

/** Reads the events at these points as they are stored; points without an event are left out. */
export async function readPoints(
  engine: Engine,
  session: string,
  points: readonly Point[],
  listEdits?: ListEdits,
): Promise<Event[]> {
  return readAll(engine, session, points.map(segmentAt), listEdits);
}

/** Reads the headers of a view, a page at a time. */
export async function* readHeaders(
  engine: Engine,
  session: string,
  segments: readonly Segment[],
  request: Omit<RowsRequest, 'select'> = {},
): AsyncGenerator<readonly StoredEvent[]> {
  for await (const rows of pages(engine, session, segments, { ...request, select: 'header' })) {
    engine.onRead(rows.length);
    yield rows;
  }
}

/** How a decoder reads: the edits that lists are read through, and the parts that came with the rows. */
interface Decoding {
  readonly listEdits?: ListEdits | undefined;
  readonly parts?: Page['parts'] | undefined;
}

/** Returns a decoder with every part these rows refer to. */
export async function decoderFor(
  engine: Engine,
  session: string,
  rows: readonly Pick<StoredEvent, 'data'>[],
  { listEdits, parts }: Decoding = {},
): Promise<DataDecoder> {
  const wanted = new Set<Digest>();
  for (const { data } of rows)
    if (data !== null && mayHoldRefs(data)) for (const digest of refsIn(data)) wanted.add(digest);
  if (parts !== undefined && isWhole(wanted, parts))
    return new DataDecoder({ get: (digest) => parts.get(digest), isErased: () => false }, listEdits);
  return decoderOf(engine, session, [...wanted], listEdits);
}

/** Returns true if parts have everything that is wanted, however deep. */
function isWhole(wanted: Iterable<Digest>, parts: ReadonlyMap<Digest, PartInput>): boolean {
  for (const digest of wanted) if (!parts.has(digest)) return false;
  for (const { refs } of parts.values()) if (refs.some((digest) => !parts.has(digest))) return false;
  return true;
}

/** Returns a decoder with these parts and everything they refer to. */
export async function decoderOf(
  engine: Engine,
  session: string,
  wanted: readonly Digest[],
  listEdits?: ListEdits,
): Promise<DataDecoder> {
  if (wanted.length === 0) return new DataDecoder({ get: () => undefined, isErased: () => false });
  const parts = await readParts(engine, session, wanted);
  const erased = isWhole(wanted, parts) ? new Set<string>() : await erasedParts(engine, session);
  return new DataDecoder({ get: (digest) => parts.get(digest), isErased: (digest) => erased.has(digest) }, listEdits);
}

/**
 * Reads parts of a session, with everything they refer to unless the request says otherwise, in as many pages as it
 * takes.
 */
export async function readParts(
  engine: Engine,
  session: string,
  digests: readonly Digest[],
  request: PartsRequest = {},
): Promise<Map<Digest, PartInput>> {
  const parts = new Map<Digest, PartInput>();
  const ref = sessionRef(engine, session);
  const open = [...digests];
  while (open.length > 0) {
    const asked = open.splice(0, limits.partsAskedMax);
    const page = await engine.store.parts(ref, asked, request);
    for (const [digest, part] of page.parts) parts.set(digest, part);
    open.push(...page.rest.filter((digest) => !parts.has(digest)));
  }
  return parts;
}

/** Returns every part of a session that was erased, on any branch. */
async function erasedParts(engine: Engine, session: string): Promise<Set<string>> {
  const erased = new Set<string>();
  const ref = sessionRef(engine, session);
  const branches = await engine.store.branches(ref);
  // The session was deleted since its events were read, which is not damage.
  if (branches.length === 0) throw sessionNotFound(ref);
  for (const { branch } of branches) {
    const record = await engine.store.branch({ ...ref, branch });
    for (const marker of record?.markers ?? [])
      if (marker.kind === 'erased') for (const part of marker.parts) erased.add(part);
  }
  return erased;
}

/** Returns the data of a stored row. */
export function dataOf(row: StoredEvent, decoder: DataDecoder): JsonObject {
  return row.data !== null && mayHoldRefs(row.data) ? decoder.decode(row.data, row.seq) : plainData(row);
}

/** Turns a stored row into an event. Empty fields are left out, and the others come in a fixed order. */
export function toEvent(session: string, row: StoredEvent, data: JsonObject): Event {
  const event: { -readonly [K in keyof Event]?: Event[K] } = {
    session,
    branch: row.branch,
    seq: row.seq,
    id: row.id,
    time: row.time,
    type: row.type,
    version: row.version,
  };
  if (row.agent !== null) event.agent = row.agent;
  if (row.run !== null) event.run = row.run;
  event.turn = row.turn;
  if (row.cause !== null) event.cause = row.cause;
  if (row.causeSeq !== null) event.causeSeq = row.causeSeq;
  event.data = data;
  event.digest = row.digest;
  if (row.erased) event.erased = true;
  return event as Event;
}

/** Returns the event that a marker carries, with the marker's branch and seq, and the ids it answers to. */
export function unwrap(marker: Event, replacedIds?: ReplacedIds): Event {
  const carried = marker.data['event'] as unknown as CarriedEvent;
  const { session, branch, seq, id, digest } = marker;
  const { type, version, time, agent, run, turn, cause, data } = carried;
  return {
    session,
    branch,
    seq,
    id,
    time,
    type,
    version,
    ...given({ agent, run }),
    turn,
    ...given({ cause }),
    data,
    digest,
    ...(data['erased'] === true && Object.keys(data).length === 1 ? { erased: true as const } : {}),
    ...(marker.type === 'event.replaced' ? { replaces: marker.data['seq'] as Seq } : {}),
    ...given({ replacedIds: replacedIds?.get(seq) }),
  };
}
