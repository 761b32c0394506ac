import type { MessageInitShape } from '@bufbuild/protobuf';
import { BoundedMap } from '../../core/bounded-map.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { checkLimit } from '../../core/limits.ts';
import { type Seq, seq as toSeq } from '../../core/point.ts';
import { columnFlags } from '../../core/session/event-columns.ts';
import type { EventStore, SessionRecord } from '../../core/store/event-store.ts';
import { positionMax } from '../../core/store/session-request.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { newChunks, viewPieces } from '../../reading/looks/event-index.ts';
import type { StudioRun } from '../../reading/looks/run-orders.ts';
import { sessionRow } from '../../reading/looks/session-rows.ts';
import type {
  BranchSubscription,
  FollowResponseSchema,
  SessionsSubscription,
  Subscription,
} from '../../wire/generated/reprise/v1/studio_pb.ts';
import { columnsToWire } from '../../wire/index-codec.ts';
import { fromWhole, toWhole } from '../../wire/whole-number.ts';
import { withBeats } from '../http/beats.ts';
import { merged } from './merged.ts';
import type { RunBook, RunName } from './run-book.ts';
import { runText } from './run-text.ts';
import { viewToWire } from './studio-service.ts';

type Item = MessageInitShape<typeof FollowResponseSchema>;

/** The parts of a server that a follower may see. */
export interface Following {
  readonly store: Pick<EventStore, 'watch'>;
  readonly repriseOf: (namespace: string) => Reprise;
  /** Undefined where no runs can be started. */
  readonly runs: RunBook | undefined;
  readonly isSeen: (run: RunName) => boolean;
  /** Throws if the token of the follower is no longer valid. */
  readonly recheck: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** How often a stream that has nothing to say shows that the server is there. */
const followBeatMs = 10_000;
/** How often sessions are looked at for news. */
const sessionsEveryMs = 1_000;
/** Sessions that are looked at for news: those last appended to. */
const sessionsMax = 1_000;

/** Sends everything that subscriptions ask for, on one stream, with beats between. */
export async function* follow(
  following: Following,
  subscriptions: readonly Subscription[],
): AsyncGenerator<Item, void, undefined> {
  checkLimit('subscriptionsMax', subscriptions.length, 'follow so much at once');
  const sources = subscriptions.map((subscription, index) =>
    guarded(sourceOf(following, subscription), index, following.signal),
  );
  // A source that never speaks keeps the stream open if nothing is subscribed to, or everything has ended.
  const all = merged([...sources, silence(following.signal)]);
  for await (const item of withBeats(all, { everyMs: followBeatMs, signal: following.signal })) {
    // Before news, too: a stream that always has some must end with its token too.
    await following.recheck();
    yield item ?? { item: { case: 'beat', value: {} } };
  }
}

function sourceOf(following: Following, { kind }: Subscription): AsyncGenerator<Item, void, undefined> {
  switch (kind.case) {
    case 'branch':
      return branchNews(following, kind.value);
    case 'sessions':
      return sessionNews(following, kind.value);
    case 'runs':
      return runNews(following);
    default:
      throw new RepriseError('option.invalid', 'Cannot follow: a subscription names nothing to follow', {
        hint: 'Name a branch, sessions, or runs.',
      });
  }
}

/** Turns an error of one source into its end, so that the others continue. */
async function* guarded(
  source: AsyncGenerator<Item, void, undefined>,
  subscription: number,
  signal: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  try {
    yield* source;
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof RepriseError)) throw error;
    yield { item: { case: 'end', value: { subscription, error: JSON.stringify(error) } } };
  }
}

/** Says nothing until it is aborted. */
function silence(signal: AbortSignal): AsyncIterable<Item, void, undefined> {
  const next = async (): Promise<IteratorResult<Item, void>> => {
    await aborted(signal);
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function* branchNews(
  { store, repriseOf, signal }: Following,
  { namespace, session: id, branch: name, after }: BranchSubscription,
): AsyncGenerator<Item, void, undefined> {
  const branch = name === '' ? 'main' : name;
  const reprise = repriseOf(namespace);
  const session = await reprise.session(id);
  const place = { namespace: reprise.currentNamespace, session: id, branch };
  let seen = toSeq(fromWhole(after));
  const tell = async function* (head: Seq): AsyncGenerator<Item, void, undefined> {
    for await (const { columns } of newChunks(session, { branch, after: seen, through: head })) {
      const through = toSeq(columns.first + columns.flags.length - 1);
      const hasMarker = columns.flags.some((flags) => (flags & columnFlags.marker) !== 0);
      const view = hasMarker ? viewToWire(through, await viewPieces(session, branch, through)) : undefined;
      const chunk = columnsToWire(columns);
      const { digest } = await session.at({ branch, seq: through }).locate();
      const value = { ...place, head: toWhole(through), digest, chunk, ...given({ view }) };
      seen = through;
      yield { item: { case: 'branch', value } };
    }
  };
  const { head } = await session.branch(branch).locate();
  if (head > seen) yield* tell(head);
  for await (const now of store.watch(place, seen, signal)) {
    if (now > seen) yield* tell(now);
    // The branch is gone, or was made again with fewer events.
    else if (now < seen) await session.branch(branch).locate();
  }
}

async function* sessionNews(
  { repriseOf, signal }: Following,
  { namespace }: SessionsSubscription,
): AsyncGenerator<Item, void, undefined> {
  const reprise = repriseOf(namespace);
  const told = new BoundedMap<string, string>(sessionsMax);
  const tops: bigint[] = [];
  while (!signal.aborted) {
    const isFirst = tops.length === 0;
    const { records, top } = await changedSince(reprise, tops[0]);
    for (const record of records.toReversed()) {
      const row = await rowText(reprise, record);
      if (row === undefined || row === told.get(record.session)) continue;
      told.set(record.session, row);
      if (!isFirst) yield { item: { case: 'session', value: { namespace: record.namespace, row } } };
    }
    tops.push(top);
    if (tops.length > looksMax) tops.shift();
    await waited(sessionsEveryMs, signal);
  }
}

/**
 * Returns the sessions from the first one down to a position, and the position of the first. Usually that is one session:
 * the first may have been appended to again, which does not move it.
 */
async function changedSince(
  reprise: Reprise,
  since: bigint | undefined,
): Promise<{ readonly records: readonly SessionRecord[]; readonly top: bigint }> {
  const records: SessionRecord[] = [];
  let [top, at] = [0n, BigInt(positionMax)];
  do {
    const { sessions, next } = await reprise.sessionsPage({ limit: 1, cursor: String(at) });
    at = BigInt(next ?? 0);
    if (top === 0n) top = at;
    if (at >= (since ?? 0n)) records.push(...sessions);
  } while (since !== undefined && at > since && records.length < sessionsMax);
  return { records, top };
}

/**
 * Looks at a session after its last change: a later one finds what was appended in the moment of the first, and what a
 * slower writer made visible after changes that came later.
 */
const looksMax = 2;

/** Writes the row of a session; undefined if it was deleted meanwhile. */
async function rowText(reprise: Reprise, record: SessionRecord): Promise<string | undefined> {
  try {
    return JSON.stringify(await sessionRow(reprise, record));
  } catch (error) {
    if (hasCode(error, 'session.not-found')) return undefined;
    throw error;
  }
}

function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

async function* runNews({ runs, isSeen, signal }: Following): AsyncGenerator<Item, void, undefined> {
  if (runs === undefined) return await aborted(signal);
  const changed = new Map<string, StudioRun | undefined>();
  const texts = new Map<string, { readonly run: string; readonly call: string; text: string }>();
  let wake: () => void = () => undefined;
  signal.addEventListener('abort', () => wake(), { once: true });
  // A follower gets only the last state of a run, however fast it changes.
  const release = runs.watch((run) => {
    if (isSeen(run)) changed.set(run.id, undefined);
    wake();
  });
  // Pieces of one answer come together, as many as there are since the last.
  const mute = runs.listen((run, { call, text }) => {
    if (!isSeen(run)) return;
    const held = texts.get(`${run.id}\n${call}`);
    if (held === undefined) texts.set(`${run.id}\n${call}`, { run: run.id, call, text });
    else held.text = (held.text + text).slice(-streamedMax);
    wake();
  });
  try {
    for (const run of (await runs.list()).toReversed()) if (isSeen(run)) changed.set(run.id, run);
    while (!signal.aborted) {
      for (const [id, listed] of changed) {
        changed.delete(id);
        const run = listed ?? (await runs.find(id));
        if (run !== undefined) yield { item: { case: 'run', value: { run: runText(run) } } };
      }
      for (const [key, value] of texts) {
        texts.delete(key);
        yield { item: { case: 'text', value: { ...value, text: value.text.toWellFormed() } } };
      }
      if (changed.size > 0 || texts.size > 0 || signal.aborted) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    release();
    mute();
  }
}

/** Characters of an answer that wait for a slow follower; of more, the beginning is dropped. */
const streamedMax = 65_536;
