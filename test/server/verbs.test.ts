import { createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createNodePlatform } from '../../src/node/platform.ts';
import { verbTable } from '../../src/server/calls/verb-table.ts';
import { makeToken, type Server, serve } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { CodingService } from '../../src/wire/generated/reprise/v1/coding_pb.ts';
import { FleetService } from '../../src/wire/generated/reprise/v1/fleet_pb.ts';
import { ErrorSchema } from '../../src/wire/generated/reprise/v1/server_pb.ts';
import { SessionService } from '../../src/wire/generated/reprise/v1/session_pb.ts';
import { StateService } from '../../src/wire/generated/reprise/v1/state_pb.ts';

const platform = createNodePlatform();
let server: Server;
let token = '';
let other = '';
let bound = '';

beforeEach(async () => {
  const store = openMemoryStore({ platform });
  const add = async (agent?: string): Promise<string> => {
    const made = makeToken({ rights: ['admin'], ...(agent === undefined ? {} : { agent }) }, platform);
    await store.tokens.add(made.record);
    return made.token;
  };
  [token, other, bound] = [await add(), await add(), await add('a1')];
  server = await serve({ store, port: 0 });
});
afterEach(async () => {
  await server.close();
});

const note = (text: string): string => JSON.stringify({ type: 'note.added', data: { text } });

function clientsOf(kind: string, held = token) {
  const options = {
    baseUrl: server.url,
    interceptors: [
      (next: (request: never) => never) => (request: never) => {
        (request as { header: Headers }).header.set('authorization', `Bearer ${held}`);
        return next(request);
      },
    ] as never[],
  };
  const transport =
    kind === 'grpc' ? createGrpcTransport(options) : createConnectTransport({ ...options, httpVersion: '1.1' });
  return { sessions: createClient(SessionService, transport), state: createClient(StateService, transport) };
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const [detail] =
    (error as { findDetails?: (desc: typeof ErrorSchema) => { code: string }[] })?.findDetails?.(ErrorSchema) ?? [];
  return detail?.code ?? String(error);
}

test('every verb is reached by a call that exists, or says why not', () => {
  const services = [SessionService, StateService, CodingService, FleetService];
  const calls = new Set(services.flatMap(({ method }) => Object.keys(method)));
  for (const reached of Object.values(verbTable))
    if ('call' in reached) expect(calls).toContain(reached.call);
    else expect(reached.none).toMatch(/\.$/);
});

describe.each(['grpc', 'connect'])('the verbs over the wire, by %s,', (kind) => {
  test('record, replay, fork, look, compare and forget', async () => {
    const { sessions } = clientsOf(kind);
    const demo = { session: 'demo' };
    await sessions.openSession({ ...demo, create: true, metadata: '{"owner":"support"}' });
    const { events } = await sessions.appendEvents({ ...demo, events: [note('a'), note('b')] });
    expect(events.map((text) => JSON.parse(text).seq)).toEqual([2, 3]);
    const fork = JSON.parse((await sessions.forkBranch({ ...demo, point: 'main@2', options: '{"name":"f"}' })).answer);
    expect(fork).toEqual({ name: 'f', parent: { branch: 'main', seq: 2 }, head: 3 });
    await sessions.appendEvents({ ...demo, events: [note('c')], options: '{"branch":"f"}' });
    const replayed = (await all(sessions.replayEvents({ ...demo, options: '{"at":"f"}', leaveOut: ['digest', 'id'] })))
      .flatMap((message) => message.events)
      .map((text) => JSON.parse(text));
    expect(replayed.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'metadata.changed'],
      [2, 'note.added'],
      [4, 'note.added'],
    ]);
    expect(Object.keys(replayed[1])).not.toContain('digest');
    const state = JSON.parse((await sessions.getStateAt({ ...demo, point: 'f', projection: 'metadata' })).answer);
    expect(state).toEqual({ owner: 'support' });
    const diff = JSON.parse((await sessions.diff({ left: 'demo/main', right: 'demo/f' })).answer);
    expect(diff.forkPoint).toMatchObject({ seq: 2 });
    expect(JSON.parse((await sessions.verifySession(demo)).answer)).toMatchObject({ ok: true });
    await sessions.rewindBranch({ ...demo, point: 'main@2' });
    await sessions.redoBranch(demo);
    const found = await sessions.findEvent({ ...demo, filter: '{"types":["note.added"]}', last: true });
    expect(JSON.parse(found.answer)).toEqual({ branch: 'main', seq: 3 });
    expect((await all(sessions.scanSessions({}))).flatMap((message) => message.sessions)).toHaveLength(1);
    expect(await codeOf(sessions.removeSession({ ...demo, confirm: 'x' }))).toBe('session.not-confirmed');
    await sessions.removeSession({ ...demo, confirm: 'demo' });
    expect(await codeOf(sessions.getTree(demo))).toBe('session.not-found');
  });

  test('a transaction lives from begin to commit, and a repeated commit gives the same answer (B1)', async () => {
    const { sessions, state } = clientsOf(kind);
    await sessions.openSession({ session: 'demo', create: true });
    const place = { session: 'demo', agent: 'a1' };
    const { transaction } = await state.beginTransaction(place);
    const held = { ...place, transaction };
    const value = { list: [1, { a: null }], text: '🙂', empty: {} };
    await state.writeState({ ...held, key: 'plan', value: JSON.stringify(value) });
    expect(JSON.parse((await state.readState({ ...held, key: 'plan' })).answer).value).toEqual(value);
    expect(JSON.parse((await state.getState({ ...place, key: 'plan' })).answer).exists).toBe(false);
    const { answer } = await state.commitTransaction(held);
    expect((await state.commitTransaction(held)).answer).toBe(answer);
    expect(await codeOf(state.writeState({ ...held, key: 'x', value: '1' }))).toMatch(/^transaction\./);
    expect(JSON.parse((await state.getState({ ...place, key: 'plan' })).answer)).toMatchObject({ value, version: 1 });
    expect(await codeOf(state.writeState({ ...place, transaction: 'nowhere', key: 'x', value: '1' }))).toBe(
      'transaction.not-found',
    );
  });

  test('a transaction belongs to its token, and agents do not see each other (B1, I7)', async () => {
    const { sessions, state } = clientsOf(kind);
    const stranger = clientsOf(kind, other).state;
    await sessions.openSession({ session: 'demo', create: true });
    const place = { session: 'demo', agent: 'a1' };
    const { transaction } = await state.beginTransaction(place);
    expect(await codeOf(stranger.commitTransaction({ ...place, transaction }))).toBe('transaction.not-found');
    const operations = JSON.stringify([{ key: 'plan', op: 'write', value: 1 }]);
    for (const wrong of [
      { operations: '[{"key":"plan","op":"write","value":1,"agent":"a9"}]' },
      { operations, read: '[{"key":"plan","version":0,"agent":"a9"}]' },
    ])
      expect(await codeOf(state.commitState({ ...place, ...wrong }))).toBe('option.invalid');
    await state.commitState({ ...place, operations, read: '[{"key":"plan","version":0}]' });
    expect(await codeOf(state.commitState({ ...place, operations, read: '[{"key":"plan","version":0}]' }))).toBe(
      'state.conflict',
    );
    const keys = async (agent: string): Promise<string[]> =>
      (await all(state.listKeys({ session: 'demo', agent }))).flatMap((message) => message.keys);
    expect([await keys('a1'), await keys('a2')]).toEqual([['plan'], []]);
    const replay = (await all(state.replayState(place))).flatMap((message) => message.transactions);
    expect(replay.map((text) => JSON.parse(text).operations.length)).toEqual([1]);
  });

  test('a follower gets an event as soon as it is stored', async () => {
    const { sessions } = clientsOf(kind);
    await sessions.openSession({ session: 'demo', create: true });
    const stop = new AbortController();
    const follow = { session: 'demo', options: '{"follow":true,"history":"raw"}' };
    const events = sessions.replayEvents(follow, { signal: stop.signal })[Symbol.asyncIterator]();
    for (const text of ['a', 'b']) {
      const next = events.next();
      await sessions.appendEvents({ session: 'demo', events: [note(text)] });
      expect(JSON.parse((await next).value?.events[0] ?? '{}').data).toEqual({ text });
    }
    stop.abort();
  });

  test.each([
    ['options that are no JSON', '{', 'option.invalid'],
    ['an option that does not exist', '{"nmae":"x"}', 'option.invalid'],
  ])('%s are refused', async (_, options, code) => {
    const { sessions } = clientsOf(kind);
    await sessions.openSession({ session: 'demo', create: true });
    expect(await codeOf(sessions.forkBranch({ session: 'demo', options }))).toBe(code);
  });
});

test('a token that is bound to an agent gets the state of that agent, and nothing else (I7)', async () => {
  const { sessions, state } = clientsOf('grpc');
  await sessions.openSession({ session: 'demo', create: true });
  const operations = JSON.stringify([{ key: 'plan', op: 'write', value: 1 }]);
  for (const agent of ['a1', 'a2']) await state.commitState({ session: 'demo', agent, operations });
  const own = clientsOf('grpc', bound);
  expect(JSON.parse((await own.state.getState({ session: 'demo', key: 'plan' })).answer)).toMatchObject({
    agent: 'a1',
    value: 1,
  });
  const ofEveryone = { session: 'demo', options: '{"agent":null}' };
  expect(await codeOf(all(own.state.replayState(ofEveryone)))).toBe('store.denied');
  const read = (await all(own.state.replayState({ session: 'demo' }))).flatMap((message) => message.transactions);
  expect(read.flatMap((text) => JSON.parse(text).operations).map(({ agent }) => agent)).toEqual(['a1']);
  const place = { session: 'demo', agent: 'a2', key: 'plan' };
  expect(await codeOf(own.state.getState(place))).toBe('store.denied');
  expect(await codeOf(own.sessions.getTree({ session: 'demo' }))).toBe('store.denied');
  const headers = { authorization: `Bearer ${bound}` };
  expect((await fetch(`${server.url}/v1/replay/demo`, { headers })).status).toBe(403);
});

test('curl records, and replays as lines', async () => {
  const call = async (name: string, body: object): Promise<{ answer?: string }> => {
    const response = await fetch(`${server.url}/reprise.v1.SessionService/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { answer?: string };
  };
  await call('OpenSession', { session: 'a/b', create: true });
  const events = Array.from({ length: 150 }, (_, index) => note(`${index} ${'x'.repeat(5_000)}`));
  await call('AppendEvents', { session: 'a/b', events });
  const get = async (path: string): Promise<Response> =>
    await fetch(`${server.url}/v1/replay/${path}`, { headers: { authorization: `Bearer ${token}` } });
  const response = await get('a%252Fb@100?after=97&leaveOut=digest,id');
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = (await response.text()).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual([98, 99, 100]);
  expect((await (await get('a%252Fb')).text()).trim().split('\n')).toHaveLength(150);
  expect([(await get('nowhere')).status, (await get('a%252Fb?x=1')).status]).toEqual([404, 400]);
});
