import { RepriseError } from '../../core/error.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import type { EventFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import { shownValue } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import { beginning, type Digest, type Point, previous, type Seq } from '../../core/point.ts';
import { type At, type PointInput, parsePoint } from '../../core/ref.ts';
import type { BranchHead, BranchRecord, SessionRecord, StoredEvent } from '../../core/store/event-store.ts';
import type { SessionsPage } from '../../core/store/session-request.ts';
import { branchOf, rawSegments, segmentAt } from '../../core/view/segment.ts';
import type { History } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { readHeaders } from './stored-events.ts';

/** A point that was looked up: the record of the branch it was asked for on, and the seq. A verb looks it up once. */
export interface Place {
  readonly session: string;
  readonly record: BranchRecord;
  readonly history: History;
  readonly seq: Seq;
}

/** A place, or a function that finds it when it is first needed. */
export type Placed = Place | (() => Promise<Place>);

/** Returns a place, which is found now if it was not before. */
export async function placed(where: Placed): Promise<Place> {
  return typeof where === 'function' ? where() : where;
}

/** Returns the place at a seq of a branch whose record is known, at its head if left out. */
export function placeOn(session: string, record: BranchRecord, seq: Seq = record.head): Place {
  const { root, markers, head } = record;
  return { session, record, history: { root, markers, head }, seq };
}

/** Returns one session, or throws `session.not-found`. */
export async function sessionRecord(engine: Engine, session: string): Promise<SessionRecord> {
  const record = await engine.store.session(sessionRef(engine, session));
  if (record !== undefined) return record;
  throw new RepriseError(
    'session.not-found',
    `Cannot open session ${JSON.stringify(session)}: namespace "${engine.namespace}" has no session of that id`,
    {
      hint: 'List the sessions, or create it with { create: true }.',
      details: { session, namespace: engine.namespace },
    },
  );
}

/** Reads the sessions of the engine's namespace, or of every one, last appended to first. */
export async function* sessionRecords(
  { store, namespace }: Pick<Engine, 'store' | 'namespace'>,
  { allNamespaces = false }: { readonly allNamespaces?: boolean } = {},
): AsyncGenerator<SessionRecord, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await sessionsPage({ store, namespace }, { allNamespaces, ...given({ cursor }) });
    yield* page.sessions;
    cursor = page.next;
  } while (cursor !== undefined);
}

/** Returns a page of the sessions, last appended to first. */
export async function sessionsPage(
  { store, namespace }: Pick<Engine, 'store' | 'namespace'>,
  {
    allNamespaces = false,
    limit = limits.sessionsPageMax,
    cursor,
  }: { readonly allNamespaces?: boolean; readonly limit?: number; readonly cursor?: string },
): Promise<SessionsPage> {
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new RepriseError('option.invalid', `Cannot list sessions: "limit" is ${limit}`, {
      hint: 'Use a whole number from 1 on.',
      details: { option: 'limit' },
    });
  return store.sessions({
    limit: Math.min(limit, limits.sessionsPageMax),
    ...given({ namespace: allNamespaces ? undefined : namespace, cursor }),
  });
}

/** Returns the ids of every session of the namespace, last appended to first. */
export async function sessionIds(engine: Engine): Promise<string[]> {
  const ids: string[] = [];
  for await (const { session } of sessionRecords(engine)) ids.push(session);
  return ids;
}

/** Returns one branch, or throws `branch.not-found`. */
export async function branchRecord(engine: Engine, session: string, branch: string): Promise<BranchRecord> {
  const record = await engine.store.branch({ ...sessionRef(engine, session), branch });
  if (record !== undefined) return record;
  await sessionRecord(engine, session);
  const names = (await engine.store.branches(sessionRef(engine, session))).map((held) => held.branch);
  throw new RepriseError('branch.not-found', `Cannot find branch ${shownValue(branch)} in session "${session}"`, {
    hint: `It has ${names
      .slice(0, 10)
      .map((name) => `"${name}"`)
      .join(', ')}${names.length > 10 ? ' and more' : ''}.`,
    details: { session, branch },
  });
}

/** Returns where a branch ends, without its markers, or throws `branch.not-found`. */
export async function branchHead(engine: Engine, session: string, branch: string): Promise<BranchHead> {
  const head = await engine.store.branchHead({ ...sessionRef(engine, session), branch });
  return head ?? (await branchRecord(engine, session, branch));
}

/** Returns whether a session has a branch of a name. */
export async function hasBranch(engine: Engine, session: string, branch: string): Promise<boolean> {
  return (await engine.store.branchHead({ ...sessionRef(engine, session), branch })) !== undefined;
}

/** Looks up the head of a branch. */
export async function placeAtHead(engine: Engine, session: string, branch: string): Promise<Place> {
  return placeOn(session, await branchRecord(engine, session, branch));
}

/** Looks a point up. */
export async function findPlace(engine: Engine, session: string, input: PointInput): Promise<Place> {
  const { branch, at } = parsePoint(input);
  return placeAt(engine, session, branch, at);
}

/** Looks up a place on a branch. */
export async function placeAt(engine: Engine, session: string, branch: string, at: At): Promise<Place> {
  return placeFrom(engine, await placeAtHead(engine, session, branch), at);
}

/** Looks up a place on the branch of a place, as that branch was when it was looked up. */
export async function placeFrom(engine: Engine, { session, record }: Place, at: At): Promise<Place> {
  const head = placeOn(session, record);
  const seq = await resolveAt(engine, head, at);
  checkReach(session, record, seq);
  return { ...head, seq };
}

/** Refuses a seq that a branch has not reached. */
export function checkReach(
  session: string,
  { branch, head }: { readonly branch: string; readonly head: Seq },
  seq: Seq,
): void {
  if (seq <= head) return;
  throw new RepriseError(
    'point.out-of-range',
    `Cannot find seq ${seq} on "${branch}" of session "${session}": head is at ${head}`,
    { hint: `Choose a seq from 0 to ${head}.`, details: { session, branch, seq, head } },
  );
}

async function resolveAt(engine: Engine, head: Place, at: At): Promise<Seq> {
  switch (at.kind) {
    case 'head':
      return head.seq;
    case 'seq':
      return at.seq;
    case 'before':
      return previous(at.seq);
    case 'turn':
      // Markers carry a turn but do not move the clock.
      return seqBefore(engine, head, { turnAfter: at.turn }, ({ type }) => !isStructural(type));
    case 'time':
      // No event is later than the last time that can be written.
      return at.time === lastTime ? head.seq : seqBefore(engine, head, { since: msLater(at.time) }, () => true);
    case 'run':
      return lastOfRun(engine, head, at.run);
    case 'story':
      return refuseStoryAt(head, at.story);
  }
}

/** Refuses a place in story time for what needs a prefix of the history. */
function refuseStoryAt({ record: { branch } }: Place, story: number): never {
  throw new RepriseError(
    'ref.invalid',
    `Cannot use story:${story} of "${branch}" here: it is not a prefix of the history`,
    {
      hint: 'Use turn:N for the end of a turn. Beliefs, the fleet, forks and rewinds take story:N.',
      details: { branch, story },
    },
  );
}

const lastTime = '9999-12-31T23:59:59.999Z';
const msLater = (time: string): string => new Date(Date.parse(time) + 1).toISOString();

/**
 * Returns the last seq before the first event that passes; the head if none does. It asks for a few events only: stores
 * find the first one without reading those before it.
 */
async function seqBefore(
  engine: Engine,
  head: Place,
  filter: Pick<EventFilter, 'since' | 'turnAfter'>,
  isMeant: (row: StoredEvent) => boolean,
): Promise<Seq> {
  const segments = rawSegments(head.history, head.seq);
  for await (const rows of readHeaders(engine, head.session, segments, { filter, limit: firstFew })) {
    const found = rows.find(isMeant);
    if (found !== undefined) return previous(found.seq);
  }
  return head.seq;
}

const firstFew = 8;

/** Returns the boundary of a run: its end, else its last event before its agent's next run starts. */
async function lastOfRun(engine: Engine, head: Place, run: string): Promise<Seq> {
  const segments = rawSegments(head.history, head.seq);
  const rows: StoredEvent[] = [];
  for await (const page of readHeaders(engine, head.session, segments, { filter: { run }, direction: 'backward' })) {
    const ofRun = page.filter((row) => row.run === run);
    const ended = ofRun.find(({ type }) => type === 'run.ended');
    if (ended !== undefined) return ended.seq;
    rows.push(...ofRun);
  }
  const first = rows.findLast(({ type }) => type === 'run.started') ?? rows.at(-1);
  if (first !== undefined) {
    const next = await nextRun(engine, head, first);
    return rows.find(({ seq }) => next === undefined || seq < next)?.seq ?? first.seq;
  }
  throw new RepriseError(
    'point.out-of-range',
    `Cannot find run ${JSON.stringify(run)} on "${head.record.branch}" of session "${head.session}": no event carries it`,
    {
      hint: 'List the runs with the "runs" projection.',
      details: { run },
    },
  );
}

/** Returns where the agent of a run's first event starts a run again; undefined if it does not. */
async function nextRun(engine: Engine, head: Place, first: StoredEvent): Promise<Seq | undefined> {
  const filter = { types: ['run.started'], ...(first.agent === null ? {} : { agent: first.agent }) };
  const segments = rawSegments(head.history, head.seq);
  for await (const rows of readHeaders(engine, head.session, segments, { filter })) {
    const next = rows.find(({ seq, agent, run }) => seq > first.seq && agent === first.agent && run !== first.run);
    if (next !== undefined) return next.seq;
  }
  return undefined;
}

/** Returns the point of a place: the branch that stores its seq. At 0 that is the branch the session began with. */
export function pointOf(place: Pick<Place, 'history' | 'seq'>): Point {
  return { branch: place.seq === 0 ? place.history.root : branchOf(place.history, place.seq), seq: place.seq };
}

/** Reads the digest of a point. */
export async function digestAt(engine: Engine, place: Place): Promise<Digest> {
  if (place.seq === place.record.head) return place.record.digest;
  if (place.seq === beginning) return (await sessionRecord(engine, place.session)).genesis;
  const { branch, seq } = pointOf(place);
  const page = await engine.store.read(sessionRef(engine, place.session), [segmentAt({ branch, seq })], {
    limit: 1,
    select: 'header',
    direction: 'forward',
  });
  const row = page.events[0];
  if (row !== undefined) return row.digest;
  throw new RepriseError(
    'store.damaged',
    `Cannot read seq ${seq} of "${branch}" in session "${place.session}": it is missing from the store`,
    {
      hint: 'Run verify on the session.',
    },
  );
}

/** A point with its digest, and the head of the branch it was asked for on. */
export interface Located extends Point {
  readonly digest: Digest;
  readonly head: Seq;
  /** The point that branch was forked at; null for the branch the session began with. */
  readonly parent: Point | null;
}

/** Returns the point of a place, with its digest. */
export async function locate(engine: Engine, place: Place): Promise<Located> {
  return {
    ...pointOf(place),
    digest: await digestAt(engine, place),
    head: place.record.head,
    parent: place.record.parent ?? null,
  };
}

/** Reads the turn of a stored event. */
export async function turnAt(engine: Engine, session: string, point: Point): Promise<number> {
  for await (const [row] of readHeaders(engine, session, [segmentAt(point)])) if (row !== undefined) return row.turn;
  return 0;
}
