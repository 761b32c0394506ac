import { expect } from 'vitest';
import { refsIn } from '../../src/core/parts/decode.ts';
import type { PartInput } from '../../src/core/parts/parts.ts';
import type { Digest, Seq } from '../../src/core/point.ts';
import type {
  BranchSummary,
  Cursor,
  EventStore,
  Receipt,
  SessionRef,
  StoredEvent,
} from '../../src/core/store/event-store.ts';

/** A store and a namespace of it. */
export interface StorePlace {
  readonly store: EventStore;
  readonly namespace: string;
}

/** Holds every session of a place against the one of that id at another: all that is stored, and what is derived of it. */
export async function expectSameSessions(left: StorePlace, right: StorePlace): Promise<number> {
  const { sessions } = await left.store.sessions({ namespace: left.namespace, limit: 1_000 });
  const other = await right.store.sessions({ namespace: right.namespace, limit: 1_000 });
  expect(other.sessions.map(({ session }) => session)).toEqual(sessions.map(({ session }) => session));
  for (const { session } of sessions) await expectSameSession(left, right, session);
  return sessions.length;
}

/** Holds one session against the one of that id at another place. */
async function expectSameSession(left: StorePlace, right: StorePlace, session: string): Promise<void> {
  const told = await tellAll(left.store, { namespace: left.namespace, session });
  const other = await tellAll(right.store, { namespace: right.namespace, session });
  for (const name of Object.keys(told) as (keyof typeof told)[]) expect(other[name], name).toEqual(told[name]);
}

/** All that a port says of a session, without the namespace, which does not belong to it. */
async function tellAll(store: EventStore, ref: SessionRef) {
  const { namespace: _, ...record } = (await store.session(ref)) ?? { namespace: '' };
  const branches = await store.branches(ref);
  const events = await Promise.all(branches.map((branch) => eventsOf(store, ref, branch)));
  return {
    record,
    branches: branches.map(({ bytes: __, ...branch }) => branch),
    bytes:
      branches.length === 0
        ? 0
        : branches.reduce((sum, { bytes }) => sum + bytes, 0) - (await unusedBytes(store, ref, events.flat())),
    records: await Promise.all(branches.map(({ branch }) => store.branch({ ...ref, branch }))),
    events,
    parts: await usedParts(store, ref, events.flat()),
    keys: await Promise.all(branches.map((branch) => keysOf(store, ref, branch))),
    receipts: await receiptsOf(store, ref),
  };
}

const segmentOf = ({ branch, parent, head }: BranchSummary) => ({
  branch,
  after: parent?.seq ?? (0 as Seq),
  through: head,
  except: [],
  carried: false,
});

async function eventsOf(store: EventStore, ref: SessionRef, branch: BranchSummary): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  let cursor: Cursor | undefined;
  do {
    const page = await store.read(ref, [segmentOf(branch)], {
      limit: 1_000,
      select: 'proof',
      direction: 'forward',
      ...(cursor === undefined ? {} : { cursor }),
    });
    events.push(...page.events);
    cursor = page.next;
  } while (cursor !== undefined);
  return events;
}

/** Every part that events lead to, however deep. */
async function usedParts(
  store: EventStore,
  ref: SessionRef,
  events: readonly StoredEvent[],
): Promise<Map<Digest, PartInput>> {
  const parts = new Map<Digest, PartInput>();
  let open = [...new Set(events.flatMap(({ data }) => refsIn(data ?? '')))];
  while (open.length > 0) {
    const page = await store.parts(ref, open.slice(0, 1_000), { depth: 'asked' });
    for (const [digest, part] of page.parts) parts.set(digest, part);
    const refs = [...page.parts.values()].flatMap((part) => part.refs.filter((digest) => !parts.has(digest)));
    open = [...new Set([...page.rest, ...refs, ...open.slice(1_000)])];
  }
  return new Map([...parts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Of parts that an erasure left without an event that leads to them: a copy does without. */
async function unusedBytes(store: EventStore, ref: SessionRef, events: readonly StoredEvent[]): Promise<number> {
  const used = await usedParts(store, ref, events);
  const unused = (await store.heldParts(ref, { limit: 1_000 })).filter((digest) => !used.has(digest));
  if (unused.length === 0) return 0;
  const { parts } = await store.parts(ref, unused, { depth: 'asked' });
  return [...parts.values()].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
}

async function keysOf(store: EventStore, ref: SessionRef, branch: BranchSummary) {
  const page = await store.latest(ref, [segmentOf(branch)], { prefix: '' }, { limit: 1_000, select: 'full' });
  return page.entries;
}

async function receiptsOf(store: EventStore, ref: SessionRef): Promise<readonly Receipt[]> {
  return await store.heldReceipts(ref, { limit: 1_000 });
}
