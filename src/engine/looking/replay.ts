import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { checkFilter, compileFilter, type EventFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import { checkKeys, checkWhole, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import type { ListEdits } from '../../core/parts/decode.ts';
import { type Seq, seq } from '../../core/point.ts';
import type { Replay, ReplayOptions } from '../../core/session/session-log.ts';
import { isoTime } from '../../core/time.ts';
import { clipSegments, rawSegments, segmentOver, segmentsOf } from '../../core/view/segment.ts';
import type { Segment, View } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { hypothesisAt } from '../history/hypothesis.ts';
import { listEditsOf } from '../history/list-edits.ts';
import { lookAt } from '../history/look.ts';
import { branchRecord, findPlace, type Place, placeOn } from '../history/place.ts';
import { replacedIdsOf } from '../history/replaced-ids.ts';
import { type EventsRequest, readEvents } from '../history/stored-events.ts';

const replayKeys: KnownKeys = optionKeys<ReplayOptions>('replay', {
  at: 'point',
  history: 'text',
  after: 'number',
  through: 'number',
  since: 'text',
  until: 'text',
  filter: true,
  direction: 'text',
  limit: 'number',
  follow: 'flag',
  signal: 'signal',
});

/** Joins the conditions of an options object into one filter. */
export function filterOf(
  options: Pick<ReplayOptions, 'filter' | 'since' | 'until' | 'after' | 'through'>,
): EventFilter {
  const { filter, since, until, after, through } = options;
  return {
    ...(filter === undefined ? {} : checkFilter(filter)),
    ...given({
      since: since === undefined ? undefined : isoTime(since),
      until: until === undefined ? undefined : isoTime(until),
      after: after === undefined ? undefined : seq(after),
      through: through === undefined ? undefined : seq(through),
    }),
  };
}

/** Reads a history again, in order. */
export function replay(engine: Engine, session: string, options: ReplayOptions = {}): Replay {
  const stop = new AbortController();
  checkWhole(options, replayKeys);
  const { limit } = options;
  const pages = replayPages(engine, session, options, stop);
  return new PagedReplay(pages, stop, isCount(limit) ? limit : Number.POSITIVE_INFINITY);
}

const isCount = (limit: unknown): limit is number => limit === Number.POSITIVE_INFINITY || isWhole(limit);
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** Refuses unknown options and invalid values. */
export function checkReading(options: ReplayOptions, keys: KnownKeys = replayKeys): void {
  checkKeys(options, keys);
  const { limit, direction, history } = options;
  const refuse = (option: string, given: unknown, takes: string): never => {
    throw new RepriseError('option.invalid', `Cannot replay with ${option} ${shownValue(given)}`, {
      hint: `It takes ${takes}.`,
      details: { option },
    });
  };
  if (limit !== undefined && !isCount(limit)) refuse('limit', limit, 'a whole number from 0');
  if (direction !== undefined && direction !== 'forward' && direction !== 'backward')
    refuse('direction', direction, '"forward" or "backward"');
  if (history !== undefined && history !== 'view' && history !== 'raw') refuse('history', history, '"view" or "raw"');
}

/** Returns the events of pages one by one. Within a page it avoids the cost of an async generator for each event. */
class PagedReplay implements Replay {
  readonly #pages: AsyncGenerator<readonly Event[], void, undefined>;
  readonly #stop: AbortController;
  #page: readonly Event[] = [];
  #index = 0;
  #left: number;
  #loading: Promise<IteratorResult<Event, void>> | undefined;

  constructor(pages: AsyncGenerator<readonly Event[], void, undefined>, stop: AbortController, limit: number) {
    this.#pages = pages;
    this.#stop = stop;
    this.#left = limit;
  }

  next(): Promise<IteratorResult<Event, void>> {
    if (this.#left <= 0) return this.return();
    // A call made while a page is being read waits for it, so that no event is skipped.
    if (this.#loading !== undefined) return this.#loading.then(() => this.next());
    if (this.#index >= this.#page.length) {
      this.#loading = this.#nextPage().finally(() => {
        this.#loading = undefined;
      });
      return this.#loading;
    }
    this.#left -= 1;
    return Promise.resolve({ value: this.#page[this.#index++] as Event, done: false });
  }

  async #nextPage(): Promise<IteratorResult<Event, void>> {
    while (this.#index >= this.#page.length) {
      const { value, done } = await this.#pages.next();
      if (done === true) return { value: undefined, done: true };
      this.#page = value;
      this.#index = 0;
    }
    this.#left -= 1;
    return { value: this.#page[this.#index++] as Event, done: false };
  }

  async return(): Promise<IteratorResult<Event, void>> {
    this.#left = 0;
    this.#page = [];
    // A generator does not return while it waits, and a follower may wait forever: abort the wait first.
    this.#stop.abort();
    await this.#pages.return();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Reads a history as {@link replay} does, a page at a time: the fast way through a long one. */
export async function* replayPages(
  engine: Engine,
  session: string,
  options: ReplayOptions = {},
  stop: AbortController = new AbortController(),
): AsyncGenerator<readonly Event[], void, undefined> {
  checkReading(options);
  const filter = filterOf(options);
  const holds = compileFilter(filter);
  const place = await findPlace(engine, session, options.at ?? {});
  const range = {
    after: seq(filter.after ?? 0),
    through: filter.through === undefined ? place.seq : seq(filter.through),
  };
  const isRaw = options.history === 'raw';
  const { segments, ...read } = await partsOfPlace(engine, place, isRaw);
  for await (const events of eventPages(engine, session, clipSegments(segments, range), {
    filter,
    ...read,
    ...options,
  })) {
    if (options.signal?.aborted === true) return;
    yield events.filter(holds);
  }
  if (options.follow === true) yield* follow(engine, place, options, isRaw, holds, stop);
}

/** The edits of a view that its events are read through. */
type ReadThrough = Pick<EventsRequest, 'listEdits' | 'replacedIds'>;

async function partsOfPlace(
  engine: Engine,
  place: Place,
  isRaw: boolean,
): Promise<{ readonly segments: readonly Segment[] } & ReadThrough> {
  if (isRaw) return { segments: rawSegments(place.history, place.seq) };
  const look = lookAt(engine, hypothesisAt(place));
  const listEdits = await listEditsOf(look);
  return { segments: segmentsOf(look.view), ...given({ listEdits, replacedIds: await replacedIdsOf(look) }) };
}

/** Reads a part of a view a page at a time, with its lists read through `listEdits`. */
export function viewPages(
  engine: Engine,
  session: string,
  view: View,
  listEdits: ListEdits | undefined,
): AsyncGenerator<readonly Event[]> {
  return eventPages(engine, session, segmentsOf(view), { filter: {}, listEdits });
}

interface PagesOptions extends Pick<ReplayOptions, 'direction' | 'limit'>, ReadThrough {
  readonly filter: EventFilter;
}

async function* eventPages(
  engine: Engine,
  session: string,
  segments: readonly Segment[],
  { direction = 'forward', filter, listEdits, replacedIds, limit = limits.pageEventsMax }: PagesOptions,
): AsyncGenerator<readonly Event[]> {
  // The first page is small, so that the first rows of a long history arrive at once.
  const firstLimit = Math.min(limit, firstPageEvents);
  const request = { direction, filter, listEdits, replacedIds, firstLimit };
  for await (const { events } of readEvents(engine, session, segments, request)) yield events;
}

const firstPageEvents = 64;

/** Yields events as they are appended. For a view, a marker comes alone, and then the new view from its beginning. */
async function* follow(
  engine: Engine,
  place: Place,
  options: ReplayOptions,
  isRaw: boolean,
  holds: (event: Event) => boolean,
  stop: AbortController,
): AsyncGenerator<readonly Event[]> {
  const { session, record } = place;
  const abort = (): void => stop.abort();
  options.signal?.addEventListener('abort', abort);
  if (options.signal?.aborted === true) abort();
  // After the last seq that was asked for, nothing can follow.
  const last = filterOf(options).through ?? Number.POSITIVE_INFINITY;
  let seen = place.seq;
  try {
    if (seen >= last) return;
    for await (const head of engine.store.watch(
      { ...sessionRef(engine, session), branch: record.branch },
      seen,
      stop.signal,
    )) {
      if (head <= seen) continue;
      const own = [segmentOver({ branch: record.branch, after: seen, through: head })];
      const listEdits = isRaw ? undefined : await listEditsAt(engine, place, head);
      for await (const events of eventPages(engine, session, own, { filter: {}, listEdits })) {
        if (events.length === 0) continue;
        seen = (events.at(-1) as Event).seq;
        if (isRaw) yield events.filter(holds);
        else yield* followView(engine, session, record.branch, events, options, holds);
        if (seen >= last) return;
      }
    }
  } finally {
    options.signal?.removeEventListener('abort', abort);
    stop.abort();
  }
}

/** Returns the edits through which a follower reads the lists of new events. */
async function listEditsAt(engine: Engine, { session, record }: Place, head: Seq): Promise<ListEdits | undefined> {
  const now = await branchRecord(engine, session, record.branch);
  return listEditsOf(lookAt(engine, hypothesisAt(placeOn(session, now, head))));
}

async function* followView(
  engine: Engine,
  session: string,
  branch: string,
  events: readonly Event[],
  options: ReplayOptions,
  holds: (event: Event) => boolean,
): AsyncGenerator<readonly Event[]> {
  const marker = events.findLastIndex((event) => isStructural(event.type));
  if (marker < 0) {
    yield events.filter(holds);
    return;
  }
  yield [events[marker] as Event];
  const at = (events.at(-1) as Event).seq;
  const again = await partsOfPlace(engine, placeOn(session, await branchRecord(engine, session, branch), at), false);
  const range = { after: seq(options.after ?? 0), through: at };
  for await (const page of eventPages(engine, session, clipSegments(again.segments, range), {
    filter: filterOf(options),
    listEdits: again.listEdits,
  }))
    yield page.filter(holds);
}
