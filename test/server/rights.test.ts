import { describe, expect, test } from 'vitest';
import { RepriseError } from '../../src/core/error.ts';
import { beginning, seq } from '../../src/core/point.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import type { Grant, Right } from '../../src/server/guarding/grant.ts';
import { type GuardedStore, guardStore, rightOf } from '../../src/server/guarding/guarded-store.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { noDigest, note, request } from '../../src/testing/contract/contract-case.ts';

const platform = createNodePlatform();
const ref = { namespace: 'own', session: 'demo' };
const key = { projection: 'p', version: '1', upcasts: 0, erasures: 0 };

type Call = (store: GuardedStore, namespace: string) => Promise<unknown>;

const named = (namespace: string) => ({ ...ref, namespace });
const onMain = (namespace: string) => ({ ...ref, namespace, branch: 'main' });
const page = { limit: 1, select: 'full', direction: 'forward' } as const;

/** One call of each method; all of them work on an empty session for those who may make them. */
const calls: Readonly<Record<keyof GuardedStore, Call>> = {
  append: async (store, namespace) => {
    const [outcome] = await store.append([request(named(namespace), [note('a')])]);
    if (outcome?.ok === false) throw outcome.error;
  },
  restore: (store, namespace) => store.restore({ ...onMain(namespace), events: [], parts: [] }),
  branch: (store, namespace) => store.branch(onMain(namespace)),
  branchHead: (store, namespace) => store.branchHead(onMain(namespace)),
  branches: (store, namespace) => store.branches(named(namespace)),
  read: (store, namespace) => store.read(named(namespace), [], page),
  locate: (store, namespace) => store.locate(named(namespace), ['a']),
  latest: (store, namespace) => store.latest(named(namespace), [], { prefix: '' }, { limit: 1, select: 'full' }),
  parts: (store, namespace) => store.parts(named(namespace), [noDigest]),
  watch: async (store, namespace) =>
    await store.watch(onMain(namespace), beginning, AbortSignal.abort())[Symbol.asyncIterator]().next(),
  createSession: (store, namespace) =>
    store.createSession({ namespace, session: platform.newId() }, { root: 'main', seed: 'x' }),
  session: (store, namespace) => store.session(named(namespace)),
  sessions: (store, namespace) => store.sessions({ namespace, limit: 1 }),
  renameSession: (store, namespace) => store.renameSession(named(namespace), { to: 'demo', replaces: [] }),
  deleteSession: (store, namespace) => store.deleteSession({ namespace, session: 'gone' }),
  putSnapshot: (store, namespace) =>
    store.putSnapshot(named(namespace), { ...key, branch: 'main', seq: seq(1), digest: noDigest, value: '1' }),
  snapshots: (store, namespace) =>
    store.snapshots(named(namespace), { keys: [key], within: [{ branch: 'main', through: seq(1) }] }),
  snapshot: (store, namespace) => store.snapshot(onMain(namespace), key, seq(1)),
  heldSnapshots: (store, namespace) => store.heldSnapshots(onMain(namespace), { limit: 1 }),
  dropSnapshots: (store, namespace) => store.dropSnapshots(named(namespace)),
  putReceipt: (store, namespace) =>
    store.putReceipt(named(namespace), { digest: noDigest, kind: 'x', createdAt: '', body: {} }),
  receipts: (store, namespace) => store.receipts(named(namespace), noDigest),
  heldReceipts: (store, namespace) => store.heldReceipts(named(namespace), { limit: 1 }),
  erase: (store, namespace) => store.erase({ ...named(namespace), events: [], parts: [], rewrites: [], appends: [] }),
  heldParts: (store, namespace) => store.heldParts(named(namespace), { limit: 1 }),
  reindex: (store, namespace) => store.reindex(named(namespace)),
  deleteBranch: (store, namespace) =>
    store.deleteBranch({
      ...named(namespace),
      branch: 'gone',
      parts: [],
      heads: [],
      append: request(named(namespace), [note('a')]),
    }),
  sessionSize: (store, namespace) => store.sessionSize(named(namespace)),
  health: (store) => store.health(),
};

const granted = (...rights: Right[]): Grant => ({ token: 't', rights: new Set(rights), namespaces: ['own'] });

async function guarded(grant: Grant): Promise<GuardedStore> {
  const store = openMemoryStore({ platform });
  for (const namespace of ['own', 'other']) await store.createSession(named(namespace), { root: 'main', seed: 'x' });
  return guardStore({ store, platform, shipped: new Set(), keep: () => undefined }, grant);
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof RepriseError ? error.code : error === undefined ? 'ok' : String(error);
}

/** Methods that carry out a copy take `append`, as far as nothing is replaced and nothing was erased. */
const copies = new Set(['restore']);

describe.each(Object.entries(rightOf))('%s() of a guarded store', (name, right) => {
  const call = calls[name as keyof GuardedStore];

  test.each(['read', 'append', 'run', 'admin'] as const)(
    `takes the right "${right}": asked with "%s"`,
    async (held) => {
      const may = held === 'admin' || held === right || (held === 'append' && copies.has(name));
      const code = await codeOf(Promise.resolve().then(async () => call(await guarded(granted(held)), 'own')));
      if (may) expect(code).not.toBe('store.denied');
      else expect(code).toBe('store.denied');
    },
  );

  // The health of a store has no namespace; a test below says what it shows.
  if (name === 'health') return;
  test('answers for a namespace of others as if nothing were there (I7)', async () => {
    const store = await guarded(granted('admin'));
    const [there, nowhere] = [
      await codeOf(Promise.resolve().then(() => call(store, 'other'))),
      await codeOf(Promise.resolve().then(() => call(store, 'nowhere'))),
    ];
    expect([there, nowhere]).toEqual(['store.denied', 'store.denied']);
  });
});

test('health() of a guarded store reports on the namespaces of the token alone', async () => {
  const store = await guarded(granted('read'));
  const { namespaces, facts, tables } = await store.health();
  expect(namespaces.map(({ name }) => name)).toEqual(['own']);
  expect([facts, tables]).toEqual([[], []]);
});

test('sessions() of a guarded store lists every namespace only for a token of all', async () => {
  const one = await guarded(granted('read'));
  expect((await one.sessions({ limit: 9 })).sessions.map(({ namespace }) => namespace)).toEqual(['own']);
  const two = await guarded({ ...granted('read'), namespaces: ['own', 'more'] });
  expect(await codeOf(two.sessions({ limit: 9 }))).toBe('store.denied');
  const all = await guarded({ ...granted('read'), namespaces: undefined });
  expect((await all.sessions({ limit: 9 })).sessions).toHaveLength(2);
});

test('a copy works with "append": into a temporary name, and from there to a free id', async () => {
  const store = await guarded(granted('append'));
  const staged = { namespace: 'own', session: `new~copying-${'a'.repeat(12)}` };
  await store.createSession(staged, { root: 'main', seed: 'x' });
  const hole = { digest: noDigest, kind: 'list', salt: 's', text: '{}', refs: [], damaged: true } as const;
  await store.restore({ ...staged, branch: 'main', events: [], parts: [hole] });
  expect(await codeOf(store.restore({ ...onMain('own'), events: [], parts: [hole] }))).toBe('store.denied');
  expect(await codeOf(store.renameSession(staged, { to: 'demo' }))).toBe('session.exists');
  expect(await codeOf(store.renameSession(staged, { to: 'demo', replaces: [] }))).toBe('store.denied');
  await store.renameSession(staged, { to: 'new' });
  expect(await codeOf(store.renameSession({ ...ref, session: 'new' }, { to: 'newer' }))).toBe('store.denied');
});
