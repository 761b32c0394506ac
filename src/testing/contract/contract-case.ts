import assert from 'node:assert/strict';
import { canonicalJson } from '../../core/canonical-json.ts';
import { type ErrorCode, RepriseError } from '../../core/error.ts';
import { ownedKey } from '../../core/event/keys.ts';
import { given, type JsonObject } from '../../core/json.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import { type Digest, type Point, type Seq, type SeqRange, seq } from '../../core/point.ts';
import type { Condition } from '../../core/store/append-request.ts';
import type {
  AppendOutcome,
  AppendRequest,
  AppendTarget,
  EventInput,
  EventStore,
  PageRequest,
  SessionRef,
  StoredEvent,
} from '../../core/store/event-store.ts';
import type { Segment } from '../../core/view/view.ts';

/** Opens a fresh, empty store. */
export type OpenStore = () => Promise<EventStore>;

/** One guarantee of the store port, as something that can be run against any store. It throws if the guarantee is broken. */
export interface ContractCase {
  readonly name: string;
  run(open: OpenStore): Promise<void>;
}

/** The world of a case: an open store with one session, and short ways to write and read. */
export interface World {
  readonly store: EventStore;
  /** The session `demo` of namespace `default`, which has the empty branch `main`. */
  readonly ref: SessionRef;
}

/** A case that gets an open store with the session `demo`; the store is closed afterwards. */
export function contractCase(name: string, body: (world: World) => Promise<void>): ContractCase {
  return {
    name,
    run: async (open) => {
      const store = await open();
      try {
        const ref = { namespace: 'default', session: 'demo' };
        await store.createSession(ref, { root: 'main', seed: 'seed' });
        await body({ store, ref });
      } finally {
        await store.close();
      }
    },
  };
}

let ids = 0;

/** A new event id; later ones sort after earlier ones. */
export function newId(): string {
  ids++;
  return `00000000-0000-7000-8000-${String(ids).padStart(12, '0')}`;
}

/** The time that events have unless they are given one. */
export const someTime = '2026-11-15T10:00:00.000Z';

/** An event as a store gets it. */
export function input(
  type: string,
  data: JsonObject = {},
  more: Partial<Omit<EventInput, 'data' | 'type'>> = {},
): EventInput {
  return { id: newId(), time: someTime, type, version: 1, data: canonicalJson(data), keys: [], ...more };
}

/** A note: the plainest event there is. */
export function note(text: string, more: Partial<Omit<EventInput, 'data' | 'type'>> = {}): EventInput {
  return input('note.added', { text }, more);
}

/** The agent that writes the keyed events of cases. */
const keeper = 'keeper';

/** The key that an event of {@link keyed} is indexed under: a server makes keys from the data, so they are real ones. */
export function keyOf(name: string): string {
  return ownedKey('state', keeper, name);
}

/** An event that is indexed under names: a commit that writes each of them. */
export function keyed(names: readonly string[], more: Partial<Omit<EventInput, 'data' | 'type'>> = {}): EventInput {
  const operations = names.map((key) => ({ agent: keeper, key, op: 'write', value: key, version: 1 }));
  return input('state.committed', { operations }, { agent: keeper, keys: names.map(keyOf), ...more });
}

/** How an append differs from the plainest one: to `main`, without parts, under no condition. */
export interface AppendOptions {
  readonly target?: AppendTarget;
  readonly branch?: string;
  readonly condition?: Condition;
  readonly parts?: readonly PartInput[];
  readonly epoch?: Seq;
}

/** The request of one append. */
export function request(ref: SessionRef, events: readonly EventInput[], options: AppendOptions = {}): AppendRequest {
  return {
    namespace: ref.namespace,
    session: ref.session,
    target: options.target ?? { kind: 'branch', branch: options.branch ?? 'main' },
    events,
    parts: options.parts ?? [],
    condition: options.condition ?? { kind: 'any' },
    ...given({ epoch: options.epoch }),
  };
}

/** Appends and gives the outcome, which must be good. */
export async function append(
  { store, ref }: World,
  events: readonly EventInput[],
  options: AppendOptions = {},
): Promise<Extract<AppendOutcome, { ok: true }>> {
  const [outcome] = await store.append([request(ref, events, options)]);
  assert.ok(outcome !== undefined, 'append gives one outcome a request');
  if (!outcome.ok) throw outcome.error;
  return outcome;
}

/** Appends, and expects to be refused with a code. */
export async function refused(
  world: World,
  code: ErrorCode,
  events: readonly EventInput[],
  options: AppendOptions = {},
): Promise<RepriseError> {
  const [outcome] = await world.store.append([request(world.ref, events, options)]);
  assert.ok(outcome !== undefined && !outcome.ok, `the append is refused with ${code}`);
  assert.equal(outcome.error.code, code, outcome.error.message);
  assert.ok(outcome.error instanceof RepriseError);
  return outcome.error;
}

/** Expects a promise to be rejected with a code. */
export async function rejects(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof RepriseError, `expected ${code}, got ${String(error)}`);
    assert.equal(error.code, code, error.message);
    return true;
  });
}

/** Forks a branch, with what else is appended to it at once. */
export async function fork(
  world: World,
  branch: string,
  parent: Point,
  events: readonly EventInput[] = [],
): Promise<Extract<AppendOutcome, { ok: true }>> {
  return await append(world, [forked(parent.seq), ...events], { target: { kind: 'fork', branch, parent } });
}

/** The first event of a fork. */
export function forked(at: Seq): EventInput {
  return input('branch.forked', { parent: { digest: '', seq: at } });
}

/** A point. */
export function point(branch: string, at: number): Point {
  return { branch, seq: seq(at) };
}

/** A stretch of stored events. */
export function range(after: number, through: number): SeqRange {
  return { after: seq(after), through: seq(through) };
}

/** A stretch of a view. */
export function segment(branch: string, after: number, through: number, except: readonly SeqRange[] = []): Segment {
  return { branch, ...range(after, through), except, carried: false };
}

/** The one-event stretch of a marker that carries an event. */
export function carried(branch: string, at: number): Segment {
  return { branch, ...range(at - 1, at), except: [], carried: true };
}

/** Reads a whole view, page by page, and checks that every page keeps to its limit. */
export async function readAll(
  { store, ref }: World,
  view: readonly Segment[],
  page: Partial<PageRequest> = {},
): Promise<StoredEvent[]> {
  const asked: PageRequest = { limit: 1_000, select: 'full', direction: 'forward', ...page };
  const events: StoredEvent[] = [];
  let { cursor } = asked;
  for (let pages = 0; pages < 100_000; pages++) {
    const found = await store.read(ref, view, cursor === undefined ? asked : { ...asked, cursor });
    assert.ok(found.events.length <= asked.limit, 'a page holds no more than its limit');
    events.push(...found.events);
    if (found.next === undefined) return events;
    cursor = found.next;
  }
  throw new Error('The read does not come to an end');
}

/** The seqs of events. */
export function seqsOf(events: readonly { readonly seq: Seq }[]): number[] {
  return events.map((event) => event.seq);
}

/** The text of each note. */
export function textsOf(events: readonly StoredEvent[]): unknown[] {
  return events.map((event) => (JSON.parse(event.data ?? '{}') as JsonObject)['text']);
}

/** SHA-256 of a string, as stores compute it. */
export async function sha256(text: string): Promise<Digest> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('') as Digest;
}

/** A part that is equal wherever it occurs. */
export async function valuePart(text: string): Promise<PartInput> {
  return { digest: await sha256(text), kind: 'value', salt: null, text, refs: [] };
}

/** A salted part. */
export async function saltedPart(
  kind: 'list' | 'body' | 'sealed',
  text: string,
  refs: readonly Digest[] = [],
  salt = 'c2FsdHNhbHRzYWx0c2Fs',
): Promise<PartInput> {
  return { digest: await sha256(salt + text), kind, salt, text, refs };
}

/** A digest that nothing has. */
export const noDigest: Digest = '0'.repeat(64) as Digest;
