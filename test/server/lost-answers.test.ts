import { afterEach, describe, expect, test } from 'vitest';
import { type CuttingProxy, cuttingProxy } from '../../bench/cutting-proxy.ts';
import { openRemoteStore } from '../../src/client/open-remote-store.ts';
import { type Digest, type Seq, seq } from '../../src/core/point.ts';
import type { EventStore, Snapshot } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { forked, input, noDigest, note, request, segment, sha256 } from '../../src/testing/contract/contract-case.ts';
import { serving } from './running-server.ts';

const platform = createNodePlatform();
const ref = { namespace: 'default', session: 'demo' };
const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

interface World {
  /** The store that the server has. */
  readonly store: EventStore;
  readonly remote: EventStore;
  readonly proxy: CuttingProxy;
}

async function world(transport: string): Promise<World> {
  const store = openMemoryStore({ platform });
  await store.createSession(ref, { root: 'main', seed: 'x' });
  const server = await serving(store);
  const proxy = await cuttingProxy(server.url);
  const remote = await openRemoteStore({ url: `${proxy.url}?transport=${transport}`, platform, release: 'test' });
  running.push(async () => {
    await remote.close();
    await proxy.close();
    await server.close();
  });
  return { store, remote, proxy };
}

const headOf = async ({ store }: World): Promise<number> =>
  (await store.branchHead({ ...ref, branch: 'main' }))?.head ?? 0;

async function proofOf({ store }: World) {
  const page = { limit: 9, select: 'proof', direction: 'forward' } as const;
  const { events } = await store.read(ref, [segment('main', 0, 9)], page);
  return events;
}

/** Appends an event, and returns a snapshot of a projection at it. */
async function snapshotAtOne({ remote, store }: World): Promise<Snapshot> {
  await remote.append([request(ref, [note('a')])]);
  const digest = (await store.branchHead({ ...ref, branch: 'main' }))?.digest ?? noDigest;
  const key = { projection: 'mine', version: '1', upcasts: 0, erasures: 0 };
  return { ...key, branch: 'main', seq: seq(1), digest, value: '1' };
}

/** Each change: what it needs first, the change itself, and what there must be after it exactly once. */
const changes: Readonly<Record<string, (held: World, cut: () => void) => Promise<void>>> = {
  append: async (held, cut) => {
    cut();
    const [outcome] = await held.remote.append([request(ref, [note('a'), note('b')])]);
    expect(outcome?.ok).toBe(true);
    expect(await headOf(held)).toBe(2);
  },
  createSession: async (held, cut) => {
    const made = { ...ref, session: 'new' };
    cut();
    const record = await held.remote.createSession(made, { root: 'main', seed: 'mine' });
    expect(record.seed).toBe('mine');
    await expect(held.remote.createSession(made, { root: 'main', seed: 'other' })).rejects.toMatchObject({
      code: 'session.exists',
    });
  },
  deleteSession: async (held, cut) => {
    cut();
    expect(await held.remote.deleteSession(ref)).toBe(true);
    expect(await held.store.session(ref)).toBeUndefined();
  },
  renameSession: async (held, cut) => {
    cut();
    await held.remote.renameSession(ref, { to: 'new' });
    expect(await held.store.session({ ...ref, session: 'new' })).toBeDefined();
  },
  erase: async (held, cut) => {
    await held.remote.append([request(ref, [note('secret')])]);
    const [event] = await proofOf(held);
    const dataDigest = (await sha256(`${event?.salt}${event?.data}`)) as Digest;
    cut();
    const { appends } = await held.remote.erase({
      ...ref,
      events: [{ branch: 'main', seq: seq(1), dataDigest }],
      parts: [],
      rewrites: [],
      appends: [request(ref, [input('payload.erased', { parts: [], seqs: [1] })])],
      erasures: 0,
    });
    expect(appends.map(({ ok }) => ok)).toEqual([true]);
    expect([await headOf(held), (await held.store.session(ref))?.erasures]).toEqual([2, 1]);
  },
  deleteBranch: async (held, cut) => {
    await held.remote.append([request(ref, [note('a')])]);
    const fork = { kind: 'fork', branch: 'f', parent: { branch: 'main', seq: seq(1) } } as const;
    await held.remote.append([request(ref, [forked(seq(1))], { target: fork })]);
    const heads = (await held.remote.branches(ref)).map(({ branch, digest }) => ({ branch, digest }));
    cut();
    const deleted = await held.remote.deleteBranch({
      ...ref,
      branch: 'f',
      parts: [],
      heads,
      append: request(ref, [note('deleted')]),
    });
    expect(deleted.ok).toBe(true);
    expect([await headOf(held), (await held.store.branches(ref)).length]).toEqual([2, 1]);
  },
  putReceipt: async (held, cut) => {
    const receipt = { digest: noDigest, kind: 'mine', createdAt: '2026-11-15T10:00:00.000Z', body: { ok: true } };
    cut();
    await held.remote.putReceipt(ref, receipt);
    expect(await held.store.receipts(ref, noDigest)).toHaveLength(1);
  },
  putSnapshot: async (held, cut) => {
    const snapshot = await snapshotAtOne(held);
    cut();
    await held.remote.putSnapshot(ref, snapshot);
    expect(await held.remote.snapshot({ ...ref, branch: 'main' }, snapshot, seq(1))).toMatchObject({ value: '1' });
  },
  dropSnapshots: async (held, cut) => {
    const snapshot = await snapshotAtOne(held);
    await held.remote.putSnapshot(ref, snapshot);
    cut();
    await held.remote.dropSnapshots(ref);
    expect(await held.remote.snapshot({ ...ref, branch: 'main' }, snapshot, seq(1))).toBeUndefined();
  },
  reindex: async (held, cut) => {
    await held.remote.append([request(ref, [note('a')])]);
    cut();
    expect(await held.remote.reindex(ref)).toEqual({ count: 0, faults: [] });
    expect(await headOf(held)).toBe(1);
  },
  restore: async (held, cut) => {
    await held.remote.append([request(ref, [note('a'), note('b')])]);
    const events = (await proofOf(held)).map(({ salt, dataDigest, ...event }) => ({
      ...event,
      salt: salt ?? null,
      dataDigest: dataDigest ?? null,
      keys: [],
    }));
    const again = { ...ref, session: 'again' };
    await held.remote.createSession(again, { root: 'main', seed: 'x' });
    cut();
    const { head } = await held.remote.restore({ ...again, branch: 'main', events, parts: [] });
    expect(head).toBe(2);
  },
};

/** More pieces than any of these changes gets from the server. */
const piecesMax = 12;

describe.each(['grpc', 'connect'])('by %s, with the connection cut at every piece of the answer,', (transport) => {
  test.each(Object.keys(changes))('%s is done once', async (name) => {
    const held = changes[name];
    for (let pieces = 0; pieces < piecesMax; pieces++) {
      const made = await world(transport);
      await held?.(made, () => made.proxy.cutAfter(pieces));
      if (!made.proxy.hasCut) {
        expect(pieces).toBeGreaterThan(0);
        return;
      }
    }
  });

  test('a follower goes on after the last head it saw', async () => {
    const held = await world(transport);
    const heads = held.remote
      .watch({ ...ref, branch: 'main' }, 0 as Seq, new AbortController().signal)
      [Symbol.asyncIterator]();
    for (let round = 1; round <= 5; round++) {
      const next = heads.next();
      held.proxy.cutAfter(0);
      await held.store.append([request(ref, [note(String(round))])]);
      expect((await next).value).toBe(round);
    }
    await heads.return?.();
  });
});

test('a server that is gone is waited for as long as "busyWaitMs" says', async () => {
  const store = openMemoryStore({ platform });
  const server = await serving(store);
  const remote = await openRemoteStore({ url: server.url, platform, release: 'test', busyWaitMs: 50 });
  await server.close();
  await expect(remote.session(ref)).rejects.toMatchObject({ code: 'store.unreachable' });
  await remote.close();
  await expect(openRemoteStore({ url: server.url, platform, release: 'test', busyWaitMs: 0 })).rejects.toMatchObject({
    code: 'store.unreachable',
  });
});
