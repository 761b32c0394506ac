/** A token that is bound to an agent: `openReprise` offers the surface of that agent, and nothing else (I7). */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TokenKeeper } from '../../src/core/store/token-store.ts';
import { createNodePlatform, openReprise, type Reprise } from '../../src/index.ts';
import { makeToken, type Server, serve } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import type { EventStore } from '../../src/store.ts';
import { type Calls, countingStore } from '../contract/counting-store.ts';

const platform = createNodePlatform();
let server: Server;
let calls: Calls;
let store: EventStore & TokenKeeper;
let operator: Reprise;
let bound: Reprise;

beforeEach(async () => {
  const memory = openMemoryStore({ platform });
  const made = async (agent?: string): Promise<string> => {
    const { token, record } = makeToken(
      { rights: ['read', 'append'], ...(agent === undefined ? {} : { agent }) },
      platform,
    );
    await memory.tokens.add(record);
    return token;
  };
  const counting = countingStore(memory);
  calls = counting.calls;
  store = Object.assign(counting.store, { tokens: memory.tokens });
  server = await serve({ store, port: 0 });
  operator = await openReprise({ store: server.url, token: await made() });
  bound = await openReprise({ store: server.url, token: await made('a1') });
  const session = await operator.createSession('demo');
  await session.state.as('a2').transaction((tx) => tx.write('plan', 'of the other'));
});
afterEach(async () => {
  await bound.close();
  await operator.close();
  await server.close();
});

test('the agent reads and writes its own state, at any point', async () => {
  const session = await bound.session('demo');
  const { state } = session.as('a1');
  const { versions, result } = await state.transaction(async (tx) => {
    expect(await tx.get('plan')).toMatchObject({ exists: false, version: 0 });
    tx.write('plan', { next: 'ask' });
    expect(await tx.get('plan')).toMatchObject({ value: { next: 'ask' }, pending: true });
    return 'done';
  });
  expect([versions, result]).toEqual([[{ agent: 'a1', key: 'plan', version: 1 }], 'done']);
  await state.transaction((tx) => tx.write('order', 7));
  await state.transaction((tx) => tx.delete('plan'));
  expect(await Array.fromAsync(state.keys())).toEqual(['order']);
  const then = session.as('a1').at('@2').state;
  expect(await then.get('plan')).toMatchObject({ value: { next: 'ask' } });
  expect(await state.get('plan', { version: 1 })).toMatchObject({ value: { next: 'ask' } });
  expect((await Array.fromAsync(state.scan('o'))).map(({ key, value }) => [key, value])).toEqual([['order', 7]]);
  expect((await Array.fromAsync(state.history('plan'))).map(({ op }) => op)).toEqual(['delete', 'write']);
  expect((await Array.fromAsync(state.replay())).map(({ seq }) => seq)).toEqual([2, 3, 4]);
  expect((await Array.fromAsync(then.diff({ state }))).map(({ key, kind }) => [key, kind])).toEqual([
    ['order', 'added'],
    ['plan', 'removed'],
  ]);
  const mine = (await operator.session('demo')).as('a1').state;
  expect(await Array.fromAsync(mine.replay())).toEqual(await Array.fromAsync(state.replay()));
});

test('a transaction fails if a key or a prefix that it read was changed, and is repeated', async () => {
  const own = (await bound.session('demo')).as('a1').state;
  const beside = (await operator.session('demo')).state.as('a1');
  let tries = 0;
  const { result } = await own.transaction(async (tx) => {
    const { value } = await tx.get('count');
    if (tries++ === 0) await beside.transaction((other) => other.write('count', 1));
    tx.write('count', Number(value ?? 0) + 1);
    return value;
  });
  expect([tries, result]).toEqual([2, 1]);
  const tx = own.begin();
  expect((await Array.fromAsync(tx.scan('draft/'))).length).toBe(0);
  tx.write('draft/1', 1);
  expect((await Array.fromAsync(tx.scan('draft/'))).map(({ key }) => key)).toEqual(['draft/1']);
  await beside.transaction((other) => other.write('draft/2', 2));
  await expect(tx.commit()).rejects.toMatchObject({ code: 'state.conflict' });
  expect(tx.isInConflict).toBe(true);
  await expect(tx.commit()).rejects.toMatchObject({ code: 'transaction.ended' });
});

test('a transaction fails if a rewind brought a different value under the version that it read', async () => {
  const session = await operator.session('demo');
  const [own, beside] = [(await bound.session('demo')).as('a1').state, session.state.as('a1')];
  await beside.transaction((tx) => tx.write('count', 100));
  const [byKey, byPrefix] = [own.begin(), own.begin()];
  expect(await byKey.get('count')).toMatchObject({ value: 100, version: 1 });
  expect(await Array.fromAsync(byPrefix.scan('co'))).toMatchObject([{ value: 100, version: 1 }]);
  await session.rewind(1);
  await beside.transaction((tx) => tx.write('count', 5));
  expect(await own.get('count')).toMatchObject({ value: 5, version: 1 });
  for (const tx of [byKey, byPrefix]) {
    tx.write('count', 101);
    await expect(tx.commit()).rejects.toMatchObject({ code: 'state.conflict' });
  }
  expect(await own.get('count')).toMatchObject({ value: 5 });
});

test('a follower of the state gets a commit as soon as it is stored', async () => {
  const { state } = (await bound.session('demo')).as('a1');
  const found = state.replay({ follow: true });
  const next = found.next();
  await state.transaction((tx) => tx.write('plan', 1));
  expect((await next).value?.operations.map(({ key }) => key)).toEqual(['plan']);
  const waiting = found.next();
  await found.return();
  expect((await waiting).done).toBe(true);
});

test('the agent commits claims, and sees those in its scope alone', async () => {
  const session = await operator.session('demo');
  const { beliefs } = session;
  await session.spawn('a1', { scope: ['database'] });
  await beliefs.commit({ topic: 'database', kind: 'fact', claim: 'The pool has 10 connections' });
  await beliefs.commit({ topic: 'people', kind: 'fact', claim: 'Nobody may know this' });
  const own = (await bound.session('demo')).as('a1');
  await own.beliefs.commit({ topic: 'database', kind: 'fact', claim: 'The pool is full', beside: true });
  const claims = (await own.beliefs.list()).map(({ claim }) => claim);
  expect(claims.toSorted()).toEqual(['The pool has 10 connections', 'The pool is full']);
  const seen = await Array.fromAsync(own.replay(), ({ type }) => type);
  expect(seen).toEqual(expect.arrayContaining(['belief.committed']));
  const known = await own.known();
  expect([known.scope, known.beliefs.length]).toEqual([['database'], 2]);
  expect(JSON.stringify([known, claims, await Array.fromAsync(own.replay())])).not.toContain('Nobody may know');
  await expect(own.beliefs.commit({ topic: 'people', claim: 'I was here' })).rejects.toMatchObject({
    code: 'scope.denied',
  });
});

test('a value that is not JSON and options that are not an object are refused, as in a local store', async () => {
  const session = await operator.session('demo');
  await session.spawn('a1');
  const surfaces = [session.as('a1'), (await bound.session('demo')).as('a1')];
  for (const own of surfaces) {
    for (const value of [Number.NaN, new Date(0), 10n, new Map(), [undefined], () => 1])
      await expect(own.beliefs.commit({ claim: 'c', value: value as never })).rejects.toMatchObject({
        code: 'json.not-json',
      });
    for (const wrong of [null, 7, 'text', []])
      for (const call of [
        async () => await own.beliefs.commit(wrong as never),
        async () => await own.beliefs.list(wrong as never),
        async () => await Array.fromAsync(own.replay(wrong as never)),
        async () => await Array.fromAsync(own.state.keys('', wrong as never)),
        async () => await own.state.get('plan', wrong as never),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'option.invalid' });
    await expect(own.fold({} as never)).rejects.toMatchObject({ code: 'projection.invalid' });
    expect(await Array.fromAsync(own.state.keys('', { limit: Number.POSITIVE_INFINITY }))).toEqual([]);
  }
  expect((await session.locate()).head).toBe(2);
});

test('a follower that saw nothing yet goes on at the next server, and one that did is told', async () => {
  const { state } = (await bound.session('demo')).as('a1');
  await state.transaction((tx) => tx.write('plan', 1));
  for await (const _ of state.scan('')) break;
  const [fresh, seeing] = [state.replay({ follow: true, after: 2 }), state.replay({ follow: true })];
  const next = fresh.next();
  await seeing.next();
  const cut = expect(seeing.next()).rejects.toMatchObject({ code: 'store.unreachable' });
  await server.close();
  await cut;
  server = await serve({ store, port: Number(new URL(server.url).port) });
  await state.transaction((tx) => tx.write('plan', 2));
  expect((await next).value?.seq).toBe(3);
  await fresh.return();
});

test('a server reads the history of a fleet once for all of its agents', async () => {
  const session = await operator.session('demo');
  await session.spawn('a1');
  for (const topic of ['a', 'b', 'c']) await session.beliefs.commit({ topic, claim: 'first' });
  const own = (await bound.session('demo')).as('a1');
  expect((await own.beliefs.list()).length).toBe(3);
  const before = calls.read;
  await own.beliefs.commit({ topic: 'a', claim: 'second' });
  expect((await own.beliefs.list()).map(({ claim }) => claim)).toEqual(['first', 'first', 'second']);
  expect(calls.read).toBe(before);
});

describe('everything else is denied:', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['a different agent', async () => (await bound.session('demo')).as('a2')],
    ['a different agent in a transaction', async () => (await bound.session('demo')).as('a1').state.begin().as('a2')],
    ['the state of the session', async () => await (await bound.session('demo')).state.get('plan')],
    ['replay', async () => await (await bound.session('demo')).replay().next()],
    ['append', async () => await (await bound.session('demo')).append({ type: 'note.added', data: { text: 'x' } })],
    [
      'the state of everyone',
      async () => await (await bound.session('demo')).as('a1').state.replay({ agent: null }).next(),
    ],
    ['the beliefs of the session', async () => await (await bound.session('demo')).beliefs.list()],
    ['the fleet', async () => await (await bound.session('demo')).spawn('a9')],
    ['fork', async () => await (await bound.session('demo')).fork('main@1')],
    ['following', async () => await (await bound.session('demo')).replay({ follow: true, history: 'raw' }).next()],
    ['a new session', async () => await bound.createSession('mine')],
    ['a listing', async () => await bound.sessions().next()],
    ['the health', async () => await bound.health()],
  ])('%s', async (_, call) => {
    await expect(call()).rejects.toMatchObject({ code: 'store.denied' });
  });

  test('a session that is not there is not found', async () => {
    const { state } = (await bound.session('nowhere')).as('a1');
    await expect(state.get('plan')).rejects.toMatchObject({ code: 'session.not-found' });
  });
});
