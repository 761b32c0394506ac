import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { checkFilter, compileFilter, type EventFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import { checkKeys, checkWhole, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import type { ListEdits } from '../../core/parts/decode.ts';
import { beginning, type Digest, type Seq, seq } from '../../core/point.ts';
import type { FollowOptions, Replay, ReplayOptions } from '../../core/session/session-log.ts';
import { isoTime } from '../../core/time.ts';
import { branchOf, clipSegments, rawSegments, segmentAt, segmentsOf } from '../../core/view/segment.ts';
import type { Segment, View } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { asTexts, eventText } from '../history/event-text.ts';
import { hypothesisAt } from '../history/hypothesis.ts';
import { listEditsOf } from '../history/list-edits.ts';
import { branchRecord, digestAt, type Place, type Placed, placed, placeOn } from '../history/place.ts';
import { replacedIdsOf } from '../history/replaced-ids.ts';
import { sightAt, sightOf } from '../history/sight.ts';
import { asEvents, type EventForm, type EventsRequest, readForms, readHeaders } from '../history/stored-events.ts';

const replayKeys: KnownKeys = optionKeys<FollowOptions>('replay', {
  history: 'text',
  types: 'list',
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
  options: Pick<ReplayOptions, 'types' | 'filter' | 'since' | 'until' | 'after' | 'through'>,
): EventFilter {
  const { types, filter, since, until, after, through } = options;
  if (types !== undefined && filter?.types !== undefined) refuseTypesTwice();
  return {
    ...(filter === undefined && types === undefined ? {} : checkFilter({ ...filter, ...given({ types }) })),
    ...given({
      since: since === undefined ? undefined : isoTime(since),
      until: until === undefined ? undefined : isoTime(until),
      after: after === undefined ? undefined : seq(after),
      through: through === undefined ? undefined : seq(through),
    }),
  };
}

function refuseTypesTwice(): never {
  throw new RepriseError('option.invalid', 'Cannot replay with both "types" and a filter of types', {
    hint: 'Pass one of them.',
    details: { option: 'types' },
  });
}

/** Reads the history at a place again, in order. A place that is not found yet is looked up before the first event. */
export function replay(engine: Engine, where: Placed, options: FollowOptions = {}): Replay {
  const stop = new AbortController();
  checkWhole(options, replayKeys);
  const { limit } = options;
  const max = isCount(limit) ? limit : Number.POSITIVE_INFINITY;
  return new PagedReplay({ engine, where, options, stop }, max);
}

/** Returns the events of a replay that was not read from yet as JSON text, a page at a time, none of them empty. */
export function textsOf(replay: Replay): AsyncIterableIterator<readonly string[], void> {
  return PagedReplay.textsOf(replay);
}

/** The question that a replay answers. */
interface ReplayQuestion {
  readonly engine: Engine;
  readonly where: Placed;
  readonly options: FollowOptions;
  /** Ends the wait of a follower. */
  readonly stop: AbortController;
}

const isCount = (limit: unknown): limit is number => limit === Number.POSITIVE_INFINITY || isWhole(limit);
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** Refuses unknown options and invalid values. */
export function checkReading(options: FollowOptions, keys: KnownKeys = replayKeys): void {
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
  readonly #question: ReplayQuestion;
  readonly #pages: AsyncGenerator<readonly Event[], void, undefined>;
  readonly #stop: AbortController;
  #page: readonly Event[] = [];
  #index = 0;
  #left: number;
  #loading: Promise<IteratorResult<Event, void>> | undefined;

  constructor(question: ReplayQuestion, limit: number) {
    const { engine, where, options, stop } = question;
    this.#question = question;
    this.#pages = replayPages(engine, where, options, stop);
    this.#stop = stop;
    this.#left = limit;
  }

  /** Returns the events of a replay as text. It is static, because a replay is public and has no such method. */
  static textsOf(replay: Replay): AsyncIterableIterator<readonly string[], void> {
    if (!(replay instanceof PagedReplay)) return eachText(replay);
    const { engine, where, options, stop } = replay.#question;
    const pages = upTo(replay.#left, replayTexts(engine, where, options, stop));
    return {
      next: () => pages.next(),
      return: async () => {
        // A generator does not return while it waits for news.
        stop.abort();
        await pages.return();
        return { value: undefined, done: true };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
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

async function* eachText(events: AsyncIterable<Event>): AsyncGenerator<readonly string[], void, undefined> {
  for await (const event of events) yield [eventText(event)];
}

/** Yields at most so many items. */
async function* upTo<Item>(
  max: number,
  pages: AsyncGenerator<readonly Item[], void, undefined>,
): AsyncGenerator<readonly Item[], void, undefined> {
  let left = max;
  if (left > 0)
    for await (const page of pages) {
      yield page.length > left ? page.slice(0, left) : page;
      left -= page.length;
      if (left <= 0) return;
    }
}

/** Reads a history as {@link replay} does, a page at a time: the fast way through a long one. */
export async function* replayPages(
  engine: Engine,
  where: Placed,
  options: FollowOptions = {},
  stop: AbortController = new AbortController(),
): AsyncGenerator<readonly Event[], void, undefined> {
  const start = await startOf(engine, where, options);
  const { session } = start.place;
  for await (const events of eventPages(engine, session, start.segments, start.request)) {
    if (options.signal?.aborted === true) return;
    yield events.filter(start.holds);
  }
  if (options.follow === true) yield* follow(engine, start, options, stop);
}

/** Reads a history as {@link replayPages} does, with each event as JSON text. */
async function* replayTexts(
  engine: Engine,
  where: Placed,
  options: FollowOptions,
  stop: AbortController,
): AsyncGenerator<readonly string[], void, undefined> {
  const start = await startOf(engine, where, options);
  const { place, segments, request } = start;
  if (Object.keys(request.filter).length > 0) {
    // A filter may look at the data, so it takes the events themselves.
    for await (const events of replayPages(engine, place, options, stop))
      if (events.length > 0) yield events.map(eventText);
    return;
  }
  for await (const texts of formPages(engine, place.session, segments, request, asTexts)) {
    if (options.signal?.aborted === true) return;
    if (texts.length > 0) yield texts;
  }
  if (options.follow !== true) return;
  for await (const events of follow(engine, start, options, stop)) if (events.length > 0) yield events.map(eventText);
}

/** The place at which a replay begins, and the segments that it reads before it follows. */
interface ReplayStart {
  readonly place: Place;
  /** The digest of the place, for a follower. */
  readonly digest: Digest | undefined;
  readonly segments: readonly Segment[];
  readonly request: PagesOptions;
  readonly isRaw: boolean;
  readonly holds: (event: Event) => boolean;
}

async function startOf(engine: Engine, where: Placed, options: FollowOptions): Promise<ReplayStart> {
  checkReading(options);
  const filter = filterOf(options);
  const holds = compileFilter(filter);
  const place = await placed(where);
  const digest = options.follow === true ? await digestAt(engine, place) : undefined;
  const range = {
    after: seq(filter.after ?? 0),
    through: filter.through === undefined ? place.seq : seq(filter.through),
  };
  const isRaw = options.history === 'raw';
  const { segments, ...read } = await partsOfPlace(engine, place, isRaw);
  const { direction, limit } = options;
  const request = { filter, ...read, ...given({ direction, limit }) };
  return { place, digest, segments: clipSegments(segments, range), request, isRaw, holds };
}

/** The edits of a view that its events are read through. */
type ReadThrough = Pick<EventsRequest, 'listEdits' | 'replacedIds'>;

async function partsOfPlace(
  engine: Engine,
  place: Place,
  isRaw: boolean,
): Promise<{ readonly segments: readonly Segment[] } & ReadThrough> {
  if (isRaw) return { segments: rawSegments(place.history, place.seq) };
  const sight = sightAt(engine, place);
  const listEdits = await listEditsOf(sight);
  return { segments: segmentsOf(sight.view), ...given({ listEdits, replacedIds: await replacedIdsOf(sight) }) };
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

function eventPages(
  engine: Engine,
  session: string,
  segments: readonly Segment[],
  options: PagesOptions,
): AsyncGenerator<readonly Event[]> {
  return formPages(engine, session, segments, options, asEvents);
}

async function* formPages<Item>(
  engine: Engine,
  session: string,
  segments: readonly Segment[],
  { direction = 'forward', filter, listEdits, replacedIds, limit = limits.pageEventsMax }: PagesOptions,
  form: EventForm<Item>,
): AsyncGenerator<readonly Item[]> {
  // The first page is small, so that the first rows of a long history arrive at once.
  const firstLimit = Math.min(limit, firstPageEvents);
  const request = { direction, filter, listEdits, replacedIds, firstLimit };
  for await (const { events } of readForms(engine, session, segments, request, form)) yield events;
}

const firstPageEvents = 64;

/** Yields events as they are appended. For a view, a marker comes alone, and then the new view from its beginning. */
async function* follow(
  engine: Engine,
  { place, isRaw, holds, ...start }: ReplayStart,
  options: FollowOptions,
  stop: AbortController,
): AsyncGenerator<readonly Event[]> {
  const { session, record } = place;
  const abort = (): void => stop.abort();
  options.signal?.addEventListener('abort', abort);
  if (options.signal?.aborted === true) abort();
  // After the last seq that was asked for, nothing can follow.
  const last = filterOf(options).through ?? Number.POSITIVE_INFINITY;
  let { seq: seen } = place;
  let { digest } = start;
  try {
    if (seen >= last) return;
    for await (const head of engine.store.watch(
      { ...sessionRef(engine, session), branch: record.branch },
      seen,
      stop.signal,
    )) {
      if (head <= seen) continue;
      await checkStill(engine, { ...place, seq: seen }, digest);
      // The next event may come before the fork of the branch: then an ancestor stores it.
      const next = clipSegments(rawSegments(place.history, head), { after: seen, through: head });
      const listEdits = isRaw ? undefined : await listEditsAt(engine, place, head);
      for await (const events of eventPages(engine, session, next, { filter: {}, listEdits })) {
        if (events.length === 0) continue;
        ({ seq: seen, digest } = events.at(-1) as Event);
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

/** Refuses to continue after a place whose branch was deleted and made again: the rest is of a different history. */
async function checkStill(
  engine: Engine,
  { session, record, history, seq: at }: Place,
  digest?: Digest,
): Promise<void> {
  if (at === beginning) return;
  const { branch } = record;
  const segment = segmentAt({ branch: branchOf(history, at), seq: at });
  for await (const [row] of readHeaders(engine, session, [segment])) if (row?.digest === digest) return;
  throw new RepriseError(
    'branch.not-found',
    `Cannot follow branch "${branch}" of session "${session}" any further: it was deleted, and made again under its name`,
    { hint: 'Replay the new branch from its beginning.', details: { session, branch, seq: at } },
  );
}

/** Returns the edits through which a follower reads the lists of new events. */
async function listEditsAt(engine: Engine, { session, record }: Place, head: Seq): Promise<ListEdits | undefined> {
  const now = await branchRecord(engine, session, record.branch);
  return listEditsOf(sightOf(engine, hypothesisAt(placeOn(session, now, head))));
}

async function* followView(
  engine: Engine,
  session: string,
  branch: string,
  events: readonly Event[],
  options: FollowOptions,
  holds: (event: Event) => boolean,
): AsyncGenerator<readonly Event[]> {
  const marker = events.findLastIndex((event) => isStructural(event.type));
  if (marker < 0) {
    yield events.filter(holds);
    return;
  }
  yield [events[marker] as Event];
  const at = (events.at(-1) as Event).seq;
  const place = placeOn(session, await branchRecord(engine, session, branch), at);
  const { segments, ...read } = await partsOfPlace(engine, place, false);
  const again = clipSegments(segments, { after: seq(options.after ?? 0), through: at });
  const request = { filter: filterOf(options), ...read };
  for await (const page of eventPages(engine, session, again, request)) yield page.filter(holds);
}
