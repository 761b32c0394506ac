/** The calls beside the verbs: health, reflection, appends as a stream; and what outlives a server process. */
import { create, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { type Client, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterEach, expect, test } from 'vitest';
import { openRemoteStore } from '../../src/client/open-remote-store.ts';
import { createNodePlatform, openReprise } from '../../src/index.ts';
import type { RunningServer } from '../../src/server/running-server.ts';
import { makeToken, serve } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '../../src/wire/generated/grpc/health/v1/health_pb.ts';
import {
  ServerReflection,
  ServerReflectionRequestSchema,
} from '../../src/wire/generated/grpc/reflection/v1/reflection_pb.ts';
import { SessionService, StreamAppendsRequestSchema } from '../../src/wire/generated/reprise/v1/session_pb.ts';
import { StateService } from '../../src/wire/generated/reprise/v1/state_pb.ts';
import { StoreService } from '../../src/wire/generated/reprise/v1/store_pb.ts';
import { serving } from './running-server.ts';

const platform = createNodePlatform();
const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

async function served(store = openMemoryStore({ platform })): Promise<RunningServer> {
  const server = await serving(store);
  running.push(server.close);
  return server;
}

const by = ({ url }: RunningServer) => createGrpcTransport({ baseUrl: url });

async function* listed<Item>(...items: Item[]): AsyncGenerator<Item, void, undefined> {
  yield* items;
}

test('grpc.health.v1 says whether the server, or a service of it, serves', async () => {
  const server = await served();
  const health = createClient(Health, by(server));
  expect((await health.check({})).status).toBe(Status.SERVING);
  expect((await health.check({ service: SessionService.typeName })).status).toBe(Status.SERVING);
  await expect(health.check({ service: 'nothing' })).rejects.toMatchObject({ code: 5 });
  const watched = health.watch({})[Symbol.asyncIterator]();
  expect((await watched.next()).value?.status).toBe(Status.SERVING);
  const next = watched.next();
  await server.close();
  expect((await next).value?.status).toBe(Status.NOT_SERVING);
});

test('reflection lists the services, and gives the schema with everything it imports', async () => {
  const client = createClient(ServerReflection, by(await served()));
  const ask = (messageRequest: { case: 'listServices' | 'fileContainingSymbol' | 'fileByFilename'; value: string }) =>
    create(ServerReflectionRequestSchema, { messageRequest });
  const answers = await Array.fromAsync(
    client.serverReflectionInfo(
      listed(
        ask({ case: 'listServices', value: '' }),
        ask({ case: 'fileContainingSymbol', value: 'reprise.v1.SessionService.AppendEvents' }),
        ask({ case: 'fileByFilename', value: 'reprise/v1/store.proto' }),
        ask({ case: 'fileContainingSymbol', value: 'nothing' }),
      ),
    ),
  );
  const found = answers.map(({ messageResponse: { case: kind, value } }) => {
    if (kind === 'listServicesResponse') return value.service.map(({ name }) => name);
    if (kind !== 'fileDescriptorResponse') return kind;
    return value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name);
  });
  expect(found).toEqual([
    expect.arrayContaining(['reprise.v1.SessionService', 'grpc.health.v1.Health']),
    expect.arrayContaining(['reprise/v1/session.proto', 'reprise/v1/server.proto']),
    expect.arrayContaining(['reprise/v1/store.proto', 'reprise/v1/row.proto']),
    'errorResponse',
  ]);
});

test('appends as a stream are stored in order, and each batch is acknowledged or refused alone', async () => {
  const store = openMemoryStore({ platform });
  await store.createSession({ namespace: 'default', session: 'demo' }, { root: 'main', seed: 'x' });
  const client = createClient(SessionService, by(await served(store)));
  const batch = (number: number, ...texts: string[]) =>
    create(StreamAppendsRequestSchema, { batch: BigInt(number), append: { ref: 'demo', events: texts } });
  const text = (value: string): string => JSON.stringify({ type: 'note.added', data: { text: value } });
  const acknowledged = await Array.fromAsync(
    client.streamAppends(
      listed(batch(7, text('a'), text('b')), batch(8, '{"type":"note.added","data":{"text":1}}'), batch(9, text('c'))),
    ),
  );
  expect(acknowledged.map(({ batch: number, events, error }) => [Number(number), events.length, error?.code])).toEqual([
    [7, 2, undefined],
    [8, 0, 'event.invalid'],
    [9, 1, undefined],
  ]);
});

test('appends and replays in bulk take their condition and their range, and a branch that names a point is refused', async () => {
  const store = openMemoryStore({ platform });
  await using reprise = await openReprise({ store, config: false });
  const session = await reprise.createSession('demo');
  await session.fork('main@0', { name: 'other' });
  const client = createClient(SessionService, by(await served(store)));
  const events = ['a', 'b', 'c'].map((text) => JSON.stringify({ type: 'note.added', data: { text } }));
  const ref = 'demo/other';
  const head = { kind: { case: 'head', value: 1n } } as const;
  const stored = await client.appendEvents({ ref, events, condition: head });
  expect(stored.events.map((text) => (JSON.parse(text) as { seq: number }).seq)).toEqual([2, 3, 4]);
  await expect(client.appendEvents({ ref, events, condition: head })).rejects.toThrow('head is at 4');
  await session.branch('other').state.transaction((tx) => tx.write('plan', 1));
  const unchanged = { kind: { case: 'unchanged' as const, value: { since: 4n, keys: [], prefixes: [''] } } };
  await expect(client.appendEvents({ ref, events, condition: unchanged })).rejects.toThrow('changed');
  await expect(client.appendEvents({ ref: 'demo/other@1', events })).rejects.toThrow('"ref" names a point');
  await expect(client.appendEvents({ ref: '', events })).rejects.toThrow('session[/branch][@at]');
  const replayed = async (request: object): Promise<unknown[]> =>
    (await Array.fromAsync(client.replayEvents({ ref, ...request })))
      .flatMap((message) => message.events)
      .map((text) => (JSON.parse(text) as { data: { text: unknown } }).data.text);
  expect(await replayed({ after: 2n, through: 3n })).toEqual(['b']);
  expect(await replayed({ ref: 'demo/other@3' })).toEqual(['a', 'b']);
  expect(await replayed({ direction: 'backward', limit: 3n })).toEqual([undefined, 'c', 'b']);
  expect(await replayed({ filter: 'text=^c' })).toEqual(['c']);
  expect(await replayed({ history: 'raw', filter: 'type=^branch' })).toEqual([undefined]);
  await expect(replayed({ history: 'both' })).rejects.toThrow('history "both"');
});

test('a transaction whose commit was not answered is found by its id, also after the server ended', async () => {
  const store = openMemoryStore({ platform });
  await store.createSession({ namespace: 'default', session: 'demo' }, { root: 'main', seed: 'x' });
  const first = await served(store);
  const place = { ref: 'demo', agent: 'a1' };
  const state: Client<typeof StateService> = createClient(StateService, by(first));
  const { transaction } = await state.beginTransaction({ place });
  await state.writeState({ place, transaction, key: 'plan', value: '1' });
  const { committed } = await state.commitTransaction({ place, transaction });
  await first.close();
  const again = createClient(StateService, by(await served(store)));
  const repeated = await again.commitTransaction({ place, transaction });
  expect(repeated.committed).toEqual(committed);
  const open = await again.beginTransaction({ place });
  const elsewhere = createClient(StateService, by(await served(store)));
  await expect(elsewhere.commitTransaction({ place, transaction: open.transaction })).rejects.toThrow('none is open');
});

test('the id of a transaction is never used twice: no commit is answered with the result of a different one', async () => {
  const store = openMemoryStore({ platform });
  await using reprise = await openReprise({ store, config: false });
  const session = await reprise.createSession('demo');
  await session.fork('main@0', { name: 'other' });
  const first = createClient(StateService, by(await served(store)));
  const place = { ref: 'demo', agent: 'a1' };
  const held = { place, transaction: 'order-7' };
  // A commit that wrote nothing left no event; its answer is not that of the next one.
  await first.beginTransaction(held);
  await first.commitTransaction(held);
  await first.beginTransaction(held);
  await first.writeState({ ...held, key: 'plan', value: '1' });
  await expect(first.beginTransaction(held)).rejects.toThrow('its id was used before');
  const { committed } = await first.commitTransaction(held);
  expect(committed).toMatchObject({ versions: [{ key: 'plan', version: 1n }] });
  await expect(first.beginTransaction(held)).rejects.toThrow('its id was used before');
  const commit = (value: number) => ({
    place,
    requestId: 'order-7',
    operations: [{ key: 'plan', value: String(value) }],
    read: [{ key: 'plan', version: 0n }],
  });
  for (const state of [first, createClient(StateService, by(await served(store)))]) {
    expect((await state.commitState(commit(1))).committed).toEqual(committed);
    for (const other of [
      { ...commit(2), read: [] },
      { ...commit(1), place: { ...place, ref: 'demo/other' } },
      { ...commit(1), place: { ...place, agent: 'a2' } },
    ])
      await expect(state.commitState(other)).rejects.toThrow('the id "order-7" is taken');
  }
  const elsewhere = { ...held, place: { ...place, ref: 'demo/other' } };
  await expect(first.commitTransaction(elsewhere)).rejects.toThrow('used for a different change');
  expect((await session.state.as('a1').get('plan')).value).toBe(1);
});

test('a request id that was used for a different change is refused, and the change is not made', async () => {
  const store = createClient(StoreService, by(await served()));
  const ref = (session: string) => ({ namespace: 'default', session });
  for (const session of ['a', 'b']) await store.createSession({ session: ref(session), root: 'main', seed: session });
  const requestId = 'one';
  expect(await store.deleteSession({ session: ref('a'), requestId })).toMatchObject({ deleted: true });
  expect(await store.deleteSession({ session: ref('a'), requestId })).toMatchObject({ deleted: true });
  for (const call of [
    () => store.deleteSession({ session: ref('b'), requestId }),
    () => store.renameSession({ session: ref('b'), to: 'c', requestId }),
    () => store.erase({ session: ref('b'), requestId }),
  ])
    await expect(call()).rejects.toThrow('its request id was used for a different change');
  expect((await store.getSession({ session: ref('b') })).session).toBeDefined();
});

test('a deletion that is repeated at a different server does not delete what took the id since', async () => {
  const store = openMemoryStore({ platform });
  const ref = { namespace: 'default', session: 'demo' };
  await store.createSession(ref, { root: 'main', seed: 'mine' });
  const server = await served(store);
  const remote = await openRemoteStore({ url: server.url, platform, release: 'test' });
  // The session is deleted and made again between the question and the deletion, as between two attempts.
  const found = await remote.session(ref);
  remote.session = async () => {
    await store.deleteSession(ref);
    await store.createSession(ref, { root: 'main', seed: 'theirs' });
    return found;
  };
  expect(await remote.deleteSession(ref)).toBe(false);
  expect((await store.session(ref))?.seed).toBe('theirs');
  await remote.close();
});

test('a long history comes in streams of pages, and nothing of it is lost or repeated', async () => {
  const store = openMemoryStore({ platform });
  const ref = { namespace: 'default', session: 'demo' };
  await store.createSession(ref, { root: 'main', seed: 'x' });
  for (let count = 0; count < 20; count++)
    await store.append([
      request(
        ref,
        Array.from({ length: 500 }, (_, index) => note(`${count}/${index}`)),
      ),
    ]);
  let reads = 0;
  const counted = new Proxy(store, {
    get: (target, name) => {
      if (name === 'read') reads += 1;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const server = await served(counted);
  await using reprise = await openReprise(server.url);
  const session = await reprise.session('demo');
  const seqs: number[] = [];
  for await (const { seq } of session.replay({ history: 'raw' })) seqs.push(seq);
  expect(seqs).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 1));
  for await (const { seq } of session.replay({ history: 'raw' })) if (seq > 3_000) break;
  expect(reads).toBeGreaterThan(10);
});

test('a server that stops lets a replay come to its end: half a history that ends well is a wrong answer', async () => {
  const store = openMemoryStore({ platform });
  const { token, record } = makeToken({ rights: ['read'] }, platform);
  await store.tokens.add(record);
  await using embedded = await openReprise({ store });
  const session = await embedded.createSession('long');
  const text = 'x'.repeat(200_000);
  for (let count = 0; count < 100; count++) await session.append({ type: 'note.added', data: { text } });
  const stopping = await serve({ store, port: 0, graceMs: 60_000 });
  const answer = await fetch(`${stopping.url}/v1/replay/long`, { headers: { authorization: `Bearer ${token}` } });
  const closed = stopping.close();
  const lines = (await answer.text()).split('\n').filter((line) => line !== '');
  await closed;
  expect(lines.length).toBe(100);
});
