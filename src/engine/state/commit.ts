import { hasCode, RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { parseKey } from '../../core/event/keys.ts';
import { stateKey } from '../../core/event/state-key.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { checkLimit } from '../../core/limits.ts';
import { keysOf } from '../../core/parts/encode.ts';
import type { Seq } from '../../core/point.ts';
import type { Condition } from '../../core/store/append-request.ts';
import { clipSegments, rawSegments } from '../../core/view/segment.ts';
import { write } from '../changing/write.ts';
import type { Engine } from '../context/engine.ts';
import { keepSnapshots } from '../history/keep-snapshots.ts';
import { placeAtHead } from '../history/place.ts';
import { readEvents } from '../history/stored-events.ts';
import type { StateOperation } from './entry.ts';
import { stateView, valuesOf, versionsAt } from './lookup.ts';

/** A write or delete that has no version yet. */
export type StagedOperation = Omit<StateOperation, 'version'>;

/** The keys and prefixes a transaction has read, all at one point, as the key index has them. */
interface StateReads {
  readonly since: Seq;
  readonly keys: ReadonlySet<string>;
  readonly prefixes: ReadonlySet<string>;
}

/** The operations to commit, where, and the reads they depend on. */
export interface CommitRequest {
  readonly session: string;
  readonly branch: string;
  /** The draft of the event, without its operations. */
  readonly draft: EventDraft;
  readonly operations: readonly StagedOperation[];
  /** Left out if nothing was read. */
  readonly reads?: StateReads;
  /** Refuses the commit after a rewind of the branch. */
  readonly epoch?: Seq;
}

/** An append that was planned. Repeating it is harmless, since its event has an id. */
export interface CommitPlan {
  readonly draft: EventDraft;
  readonly condition: Condition;
}

/**
 * Appends a transaction as one event; `state.conflict` if a key it read was changed. The keys it writes are in the
 * condition too, since their versions depend on them; if only those have changed, the commit is planned again. `onPlan`
 * is called with each plan before it is tried.
 */
export async function commitState(
  engine: Engine,
  request: CommitRequest,
  onPlan: (plan: CommitPlan) => void,
  known?: CommitPlan,
): Promise<Event> {
  const first = known ?? (await planCommit(engine, request, request.reads?.since));
  const done = await tryPlan(engine, request, first, onPlan);
  if (done !== undefined) return done;
  // Commits that lost a race try again one after the other: all at once, each would make the others lose again.
  const lane = JSON.stringify([engine.namespace, request.session, request.branch]);
  return engine.transactions.inTurn(lane, () => tryAgain(engine, request, onPlan));
}

async function tryAgain(engine: Engine, request: CommitRequest, onPlan: (plan: CommitPlan) => void): Promise<Event> {
  for (let tries = 1; ; tries++) {
    checkLimit('commitTriesMax', tries, `commit to "${request.branch}": others keep writing the same keys`);
    const since = request.reads === undefined ? undefined : await confirmReads(engine, request, request.reads);
    const done = await tryPlan(engine, request, await planCommit(engine, request, since), onPlan);
    if (done !== undefined) return done;
  }
}

/** Appends a plan and returns the event as stored; undefined if a key changed. */
async function tryPlan(
  engine: Engine,
  { session, branch, epoch }: CommitRequest,
  { draft, condition }: CommitPlan,
  onPlan: (plan: CommitPlan) => void,
): Promise<Event | undefined> {
  onPlan({ draft, condition });
  try {
    const appended = await write(engine, {
      session,
      target: { kind: 'branch', branch },
      drafts: [draft],
      condition,
      ...given({ epoch }),
    });
    const [event] = appended;
    // The store finds an event by its id on every branch; a commit to a different one was not made.
    if (event !== undefined && event.branch !== branch) throw idReused(event, branch);
    keepSnapshots(engine, session, appended);
    return event;
  } catch (error) {
    if (hasCode(error, 'state.conflict')) return undefined;
    throw error;
  }
}

/**
 * Numbers the operations by the versions of their keys at a seq (the head if left out), on condition that these have
 * not changed.
 */
async function planCommit(engine: Engine, request: CommitRequest, since: Seq | undefined): Promise<CommitPlan> {
  const { operations, reads } = request;
  const keys = operations.map(({ agent, key }) => stateKey(agent, key));
  const { seq, versions: held } = await versionsBefore(engine, request, keys, since);
  const versions = new Map<string, number>();
  const numbered = operations.map((operation, index): JsonValue => {
    const key = keys[index] as string;
    const version = (versions.get(key) ?? held.get(key) ?? 0) + 1;
    versions.set(key, version);
    return { ...operation, version } as unknown as JsonValue;
  });
  return {
    draft: { ...request.draft, data: { operations: numbered } },
    condition: {
      kind: 'unchanged',
      since: seq,
      keys: [...new Set([...versions.keys(), ...(reads?.keys ?? [])])],
      prefixes: [...(reads?.prefixes ?? [])],
    },
  };
}

/** Returns the versions that keys have at a seq (the head if left out), and that seq. */
async function versionsBefore(
  engine: Engine,
  { session, branch, operations }: CommitRequest,
  keys: readonly string[],
  since: Seq | undefined,
): Promise<{ readonly seq: Seq; readonly versions: ReadonlyMap<string, number> }> {
  const view = since === undefined ? { branch } : { branch, at: since };
  const found = await versionsAt(engine, session, view, keys);
  if (found !== undefined) return { seq: since ?? found.head, versions: found.versions };
  const place = await placeAtHead(engine, session, branch);
  const seq = since ?? place.seq;
  const held = await valuesOf(stateView(engine, { ...place, seq }), operations);
  return { seq, versions: new Map(Array.from(held, ([key, { version }]) => [key, version])) };
}

/**
 * Returns the head if no key that was read has changed up to it; else throws `state.conflict`, which names the keys.
 */
async function confirmReads(engine: Engine, request: CommitRequest, reads: StateReads): Promise<Seq> {
  const place = await placeAtHead(engine, request.session, request.branch);
  const { since } = reads;
  const marker = place.history.markers.find((held) => held.seq > since && held.kind !== 'forked');
  if (marker !== undefined)
    throw conflict(request, since, `the history was edited at seq ${marker.seq}`, marker.seq, []);
  const changed = new Map<string, Seq>();
  const segments = clipSegments(rawSegments(place.history, place.seq), { after: since, through: place.seq });
  for await (const { events } of readEvents(engine, request.session, segments, {
    filter: { types: ['state.committed'] },
  })) {
    for (const event of events)
      for (const key of keysOf(event)) if (!changed.has(key) && wasRead(reads, key)) changed.set(key, event.seq);
  }
  const [first] = changed.values();
  if (first === undefined) return place.seq;
  const keys = [...changed.keys()].map(parseKey).map(({ owner, name }) => ({ agent: owner, key: name }));
  const named = keys.slice(0, keysNamedMax).map(({ key }) => JSON.stringify(key));
  const more = keys.length > keysNamedMax ? ` and ${keys.length - keysNamedMax} more` : '';
  throw conflict(request, since, `${named.join(', ')}${more} changed, first at seq ${first}`, first, keys);
}

const keysNamedMax = 5;

function idReused({ id, branch, seq }: Event, asked: string): RepriseError {
  return new RepriseError(
    'event.id-reused',
    `Cannot commit to "${asked}": the id "${id}" is taken by the event at "${branch}@${seq}"`,
    { hint: 'Use a new id for each transaction.', details: { id, branch, seq } },
  );
}

function wasRead({ keys, prefixes }: StateReads, key: string): boolean {
  if (keys.has(key)) return true;
  for (const prefix of prefixes) if (key.startsWith(prefix)) return true;
  return false;
}

function conflict(
  { branch }: CommitRequest,
  since: Seq,
  what: string,
  seq: Seq,
  keys: readonly { readonly agent: string; readonly key: string }[],
): RepriseError {
  return new RepriseError(
    'state.conflict',
    `Cannot commit to "${branch}": since seq ${since}, when the transaction read, ${what}`,
    {
      hint: 'Begin again: read, decide and commit on the current values. state.transaction() does so by itself, as often as its retries.',
      details: { branch, since, seq, keys },
    },
  );
}
