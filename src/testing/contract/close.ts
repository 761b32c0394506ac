import assert from 'node:assert/strict';
import { beginning, seq } from '../../core/point.ts';
import type { EventStore, SessionRef } from '../../core/store/event-store.ts';
import { append, type ContractCase, contractCase, noDigest, note, rejects, request, segment } from './contract-case.ts';

/** The guarantees of `health`. */
export const healthCases: readonly ContractCase[] = [
  contractCase('health() names the store and finds nothing wrong with a fresh one', async ({ store }) => {
    const health = await store.health();
    assert.deepEqual(health.problems, []);
    assert.ok(health.kind.length > 0 && health.location.length > 0 && health.durability.length > 0);
    assert.ok(health.bytes > 0);
    const names = health.facts.map(({ name }) => name);
    assert.ok(names.length > 0 && new Set(names).size === names.length);
    assert.ok(health.facts.every(({ text }) => text.length > 0));
  }),

  contractCase('health() tells how much each namespace holds, the largest first', async (world) => {
    await append(world, [note('a little')]);
    await world.store.createSession({ namespace: 'other', session: 'x' }, { root: 'main', seed: 'x' });
    await append({ ...world, ref: { namespace: 'other', session: 'x' } }, [note('much more '.repeat(100))]);
    const sizes = (await world.store.health()).namespaces;
    const bytesOf = async (ref: SessionRef): Promise<number> => (await world.store.branches(ref))[0]?.bytes ?? 0;
    assert.deepEqual(sizes, [
      { name: 'other', sessions: 1, bytes: await bytesOf({ namespace: 'other', session: 'x' }) },
      { name: world.ref.namespace, sessions: 1, bytes: await bytesOf(world.ref) },
    ]);
  }),
];

const calls: Readonly<Record<Exclude<keyof EventStore, 'close'>, (store: EventStore) => Promise<unknown>>> = {
  append: (store) => store.append([request(ref, [note('a')])]),
  restore: (store) => store.restore({ ...ref, branch: 'main', events: [], parts: [] }),
  branch: (store) => store.branch({ ...ref, branch: 'main' }),
  branchHead: (store) => store.branchHead({ ...ref, branch: 'main' }),
  branches: (store) => store.branches(ref),
  read: (store) => store.read(ref, [segment('main', 0, 1)], { limit: 1, select: 'full', direction: 'forward' }),
  locate: (store) => store.locate(ref, ['a']),
  latest: (store) => store.latest(ref, [], { prefix: '' }, { limit: 1, select: 'full' }),
  parts: (store) => store.parts(ref, [noDigest]),
  watch: async (store) =>
    await store
      .watch({ ...ref, branch: 'main' }, beginning, new AbortController().signal)
      [Symbol.asyncIterator]()
      .next(),
  createSession: (store) => store.createSession({ ...ref, session: 'new' }, { root: 'main', seed: 'x' }),
  session: (store) => store.session(ref),
  sessions: (store) => store.sessions({ limit: 1 }),
  renameSession: (store) => store.renameSession(ref, { to: 'new' }),
  deleteSession: (store) => store.deleteSession(ref),
  deleteBranch: (store) =>
    store.deleteBranch({ ...ref, branch: 'x', parts: [], heads: [], append: request(ref, [note('a')]) }),
  putSnapshot: (store) =>
    store.putSnapshot(ref, {
      projection: 'p',
      version: '1',
      upcasts: 0,
      erasures: 0,
      branch: 'main',
      seq: seq(1),
      digest: noDigest,
      value: '1',
    }),
  snapshots: (store) =>
    store.snapshots(ref, {
      keys: [{ projection: 'p', version: '1', upcasts: 0, erasures: 0 }],
      within: [{ branch: 'main', through: seq(1) }],
    }),
  snapshot: (store) =>
    store.snapshot({ ...ref, branch: 'main' }, { projection: 'p', version: '1', upcasts: 0, erasures: 0 }, seq(1)),
  dropSnapshots: (store) => store.dropSnapshots(ref),
  putReceipt: (store) => store.putReceipt(ref, { digest: noDigest, kind: 'x', createdAt: '', body: {} }),
  receipts: (store) => store.receipts(ref, noDigest),
  heldReceipts: (store) => store.heldReceipts(ref, { limit: 1 }),
  heldSnapshots: (store) => store.heldSnapshots({ ...ref, branch: 'main' }, { limit: 1 }),
  erase: (store) => store.erase({ ...ref, events: [], parts: [], rewrites: [], appends: [] }),
  heldParts: (store) => store.heldParts(ref, { limit: 1 }),
  reindex: (store) => store.reindex(ref),
  sessionSize: (store) => store.sessionSize(ref),
  health: (store) => store.health(),
};

const ref = { namespace: 'default', session: 'demo' };

/** The guarantees of `close`. */
export const closeCases: readonly ContractCase[] = [
  contractCase('close() waits for the appends that were asked for before it', async (world) => {
    const appends = Promise.all(Array.from({ length: 50 }, (_, index) => append(world, [note(String(index))])));
    await world.store.close();
    assert.equal((await appends).length, 50);
  }),

  contractCase('close() may be called again, also at the same time', async ({ store }) => {
    await Promise.all([store.close(), store.close()]);
    await store.close();
  }),

  ...Object.entries(calls).map(([name, call]) =>
    contractCase(`close() makes a later ${name}() fail with "store.closed"`, async ({ store }) => {
      await store.close();
      await rejects(
        Promise.resolve().then(() => call(store)),
        'store.closed',
      );
    }),
  ),
];
