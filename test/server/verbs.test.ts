import { createClient } from '@connectrpc/connect';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { isWriting } from '../../src/server/calls/verb-arguments.ts';
import { verbCoverage } from '../../src/server/calls/verb-coverage.ts';
import { verbTable } from '../../src/server/calls/verb-table.ts';
import { makeToken, type Server, serve } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { StateService } from '../../src/wire/generated/reprise/v1/state_pb.ts';
import { StoreService } from '../../src/wire/generated/reprise/v1/store_pb.ts';
import { codeOf, type DoorClient, doorOf, errorOf, type Face, faces, transportOf } from './door.ts';

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

const note = (text: string): JsonObject => ({ type: 'note.added', data: { text } });
const door = (face: Face, held = token): DoorClient => doorOf(face, server.url, held);
const stateBy = (face: Face, held = token) =>
  createClient(StateService, transportOf(face === 'http' ? 'connect' : face, server.url, held));

test('every verb of the library is reached over the wire, or says why not', () => {
  const calls = new Set([StateService, StoreService].flatMap(({ method }) => Object.keys(method)));
  for (const reached of Object.values(verbCoverage))
    if ('verb' in reached) expect(Object.keys(verbTable)).toContain(reached.verb);
    else if ('call' in reached) expect(calls).toContain(reached.call);
    else expect(reached.none).toMatch(/\.$/);
  const served = new Set(Object.values(verbCoverage).flatMap((reached) => ('verb' in reached ? [reached.verb] : [])));
  const more = Object.keys(verbTable).filter((verb) => !served.has(verb as never));
  // Each is the second form of a verb of the library.
  expect(more).toEqual(['look.exportFiles', 'agent.beliefs.list']);
});

describe.each(faces)('the verbs over the wire, by %s,', (face) => {
  test('record, replay, fork, look, compare and forget', async () => {
    const { call, list } = door(face);
    const demo = { ref: 'demo' };
    await call('reprise.createSession', { session: 'demo', metadata: { owner: 'support' } });
    const events = (await call('branch.append', { ...demo, events: [note('a'), note('b')] })) as JsonObject[];
    expect(events.map(({ seq }) => seq)).toEqual([2, 3]);
    const fork = await call('look.fork', { ref: 'demo@2', name: 'f' });
    expect(fork).toEqual({ name: 'f', parent: { branch: 'main', seq: 2 }, head: 3 });
    await call('branch.append', { ref: 'demo/f', events: [note('c')] });
    const replayed = (await Array.fromAsync(
      list('look.replay', { ref: 'demo/f', leaveOut: ['digest', 'id'] }),
    )) as JsonObject[];
    expect(replayed.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'metadata.changed'],
      [2, 'note.added'],
      [4, 'note.added'],
    ]);
    expect(Object.keys(replayed[1] ?? {})).not.toContain('digest');
    expect(await call('look.fold', { ref: 'demo/f', projection: 'metadata' })).toEqual({ owner: 'support' });
    const folds = await call('look.folds', { ref: 'demo/f', projections: ['metadata', 'summary'] });
    expect(folds).toMatchObject({ metadata: { owner: 'support' }, summary: {} });
    expect(await call('look.known', { ref: 'demo/f' })).toMatchObject({
      ref: 'demo/f',
      metadata: { owner: 'support' },
    });
    expect(await call('reprise.diff', { left: 'demo', right: 'demo/f' })).toMatchObject({ forkPoint: { seq: 2 } });
    expect(await call('look.verify', demo)).toMatchObject({ ok: true });
    await call('branch.rewind', { ref: 'demo@2' });
    await call('branch.redo', demo);
    expect(await call('look.findLast', { ...demo, filter: { types: ['note.added'] } })).toEqual({
      branch: 'main',
      seq: 3,
    });
    expect(await call('look.find', { ...demo, filter: 'type=^note' })).toEqual({ branch: 'main', seq: 2 });
    expect(await call('look.find', { ...demo, filter: 'type=^call' })).toBe(null);
    expect(await Array.fromAsync(list('reprise.sessions'))).toHaveLength(1);
    expect(await codeOf(call('session.delete', { session: 'demo', confirm: 'x' }))).toBe('session.not-confirmed');
    await call('session.delete', { session: 'demo', confirm: 'demo' });
    expect(await codeOf(call('session.tree', { session: 'demo' }))).toBe('session.not-found');
  });

  test('a transaction lives from begin to commit, and a repeated commit gives the same answer (B1)', async () => {
    const [{ call }, state] = [door(face), stateBy(face)];
    await call('reprise.createSession', { session: 'demo' });
    const where = { ref: 'demo', agent: 'a1' };
    const { transaction } = await state.beginTransaction({ place: where });
    const held = { place: where, transaction };
    const value = { list: [1, { a: null }], text: '🙂', empty: {} };
    await state.writeState({ ...held, key: 'plan', value: JSON.stringify(value) });
    expect(JSON.parse((await state.readState({ ...held, key: 'plan' })).answer).value).toEqual(value);
    expect(await call('state.get', { ...where, key: 'plan' })).toMatchObject({ exists: false });
    const { committed } = await state.commitTransaction(held);
    expect((await state.commitTransaction(held)).committed).toEqual(committed);
    expect(await codeOf(state.writeState({ ...held, key: 'x', value: '1' }))).toMatch(/^transaction\./);
    expect(await call('state.get', { ...where, key: 'plan' })).toMatchObject({ value, version: 1 });
    expect(await codeOf(state.writeState({ place: where, transaction: 'nowhere', key: 'x', value: '1' }))).toBe(
      'transaction.not-found',
    );
  });

  test('a transaction belongs to its token, and agents do not see each other (B1, I7)', async () => {
    const { call, list } = door(face);
    await call('reprise.createSession', { session: 'demo' });
    const where = { ref: 'demo', agent: 'a1' };
    const { transaction } = await stateBy(face).beginTransaction({ place: where });
    expect(await codeOf(stateBy(face, other).commitTransaction({ place: where, transaction }))).toBe(
      'transaction.not-found',
    );
    const operations = [{ key: 'plan', op: 'write', value: 1 }];
    for (const wrong of [
      { operations: [{ ...operations[0], agent: 'a9' }] },
      { operations, read: [{ key: 'plan', version: 0, agent: 'a9' }] },
    ])
      expect(await codeOf(call('state.transaction', { ...where, ...wrong } as JsonObject))).toBe('option.invalid');
    const commit = { ...where, operations, read: [{ key: 'plan', version: 0 }] };
    await call('state.transaction', commit);
    expect(await codeOf(call('state.transaction', commit))).toBe('state.conflict');
    const keys = (agent: string) => Array.fromAsync(list('state.keys', { ref: 'demo', agent }));
    expect([await keys('a1'), await keys('a2')]).toEqual([['plan'], []]);
    const replay = (await Array.fromAsync(list('state.replay', where))) as { operations: [] }[];
    expect(replay.map((transacted) => transacted.operations.length)).toEqual([1]);
  });

  test('a follower gets an event as soon as it is stored', async () => {
    const { call, list } = door(face);
    await call('reprise.createSession', { session: 'demo' });
    const stop = new AbortController();
    const events = list('look.replay', { ref: 'demo', follow: true, history: 'raw' }, stop.signal);
    for (const text of ['a', 'b']) {
      const next = events.next();
      await call('branch.append', { ref: 'demo', events: [note(text)] });
      expect(((await next).value as JsonObject)['data']).toEqual({ text });
    }
    stop.abort();
    await events.next().catch(() => undefined);
  });

  test('a change that is asked for again with its request id is made once', async () => {
    const { call, list } = door(face);
    await call('reprise.createSession', { session: 'demo', requestId: 'make' });
    await call('reprise.createSession', { session: 'demo', requestId: 'make' });
    await call('branch.append', { ref: 'demo', events: [note('a')], requestId: 'append' });
    await call('branch.append', { ref: 'demo', events: [note('a')], requestId: 'append' });
    const branches = [1, 2].map(() => call('look.fork', { ref: 'demo@1', requestId: 'fork' }));
    expect(new Set((await Promise.all(branches)).map((made) => JSON.stringify(made))).size).toBe(1);
    expect(await Array.fromAsync(list('look.replay', { ref: 'demo' }))).toHaveLength(1);
    expect(await codeOf(call('look.fork', { ref: 'demo@0', requestId: 'fork' }))).toBe('option.invalid');
    expect(await codeOf(call('look.fork', { ref: 'demo@0', requestId: '' }))).toBe('option.invalid');
    const write = (value: number) => ({
      ref: 'demo',
      agent: 'a1',
      operations: [{ key: 'plan', op: 'write', value }],
      requestId: 'transaction',
    });
    const committed = await call('state.transaction', write(1));
    expect(await call('state.transaction', write(1))).toEqual(committed);
    expect(committed).toMatchObject({ txn: 'transaction', versions: [{ version: 1 }] });
    expect(await codeOf(call('state.transaction', write(2)))).toBe('event.id-reused');
  });

  test.each<[string, string, string | JsonObject, string]>([
    ['arguments that are no JSON', 'look.fork', '{', ''],
    ['arguments that are no object', 'look.fork', '[]', ''],
    ['an argument that does not exist', 'look.fork', { ref: 'demo@1', nmae: 'x' }, 'nmae'],
    ['an argument of a wrong kind', 'look.fork', { ref: 'demo@1', name: 7 }, 'name'],
    ['an argument that is missing', 'look.fold', { ref: 'demo' }, 'projection'],
    ['a verb that does not exist', 'look.fld', {}, 'verb'],
    ['the name of something that every object has', 'constructor', {}, 'verb'],
    ['an empty namespace', 'look.locate', { ref: 'demo', namespace: '' }, 'namespace'],
    ['an empty agent', 'state.get', { ref: 'demo', key: 'plan', agent: '' }, 'agent'],
    ['an empty branch', 'session.archiveBranch', { session: 'demo', branch: '' }, 'branch'],
  ])('%s: refused, and the error says where', async (_, verb, input, path) => {
    const { call } = door(face);
    const { code, details } = await errorOf(call(verb, input));
    expect([code, details['path']]).toEqual(['option.invalid', path]);
  });

  test('a verb that writes or destroys is never asked for without its place', async () => {
    const { call } = door(face);
    await call('reprise.createSession', { session: 'demo' });
    await call('branch.append', { ref: 'demo', events: [note('a'), note('b')] });
    const needs: Readonly<Record<string, JsonObject>> = {
      'session.erase': {},
      'branch.rewind': {},
      'branch.revert': {},
      'branch.redo': {},
      'branch.edit': { edits: [] },
      'branch.append': { events: [note('c')] },
      'branch.setMetadata': { set: { a: 1 } },
      'look.fork': {},
      'state.transaction': { operations: [] },
    };
    for (const [verb, input] of Object.entries(needs))
      for (const ref of [{}, { ref: '' }, { ref: null }])
        expect([verb, await codeOf(call(verb, { ...input, ...ref }))]).toEqual([verb, 'option.invalid']);
    for (const verb of ['session.erase', 'branch.rewind', 'branch.revert'])
      for (const ref of ['demo', 'demo/main'])
        expect([verb, await codeOf(call(verb, { ref }))]).toEqual([verb, 'option.invalid']);
    for (const verb of ['branch.append', 'branch.redo', 'branch.edit', 'branch.setMetadata'])
      expect([verb, await codeOf(call(verb, { ...needs[verb], ref: 'demo@1' }))]).toEqual([verb, 'option.invalid']);
    expect(await codeOf(call('session.erase', { ref: 'demo@' }))).toBe('ref.invalid');
    for (const verb of ['session.delete', 'session.deleteBranch', 'session.repair'])
      expect(await codeOf(call(verb, { confirm: '', branch: '' }))).toBe('option.invalid');
    expect(await call('session.tree', { session: 'demo' })).toMatchObject({ head: 2 });
    expect(await call('session.erase', { ref: 'demo@1' })).toMatchObject({});
  });

  test('a token without the right of a verb is refused by name', async () => {
    const store = openMemoryStore({ platform });
    const { token: weak, record } = makeToken({ rights: ['run'] }, platform);
    await store.tokens.add(record);
    await using own = await serve({ store, port: 0 });
    const { call, list } = doorOf(face, own.url, weak);
    for (const [verb, { many }] of Object.entries(verbTable)) {
      const input = fullArguments(verb);
      const asked = many === undefined ? call(verb, input) : Array.fromAsync(list(verb, input));
      expect([verb, await codeOf(asked)]).toEqual([verb, 'store.denied']);
    }
  });
});

test('a token that may read makes no change by any verb, and the error names the right', async () => {
  const store = openMemoryStore({ platform });
  const { token: reading, record } = makeToken({ rights: ['read'] }, platform);
  await store.tokens.add(record);
  await using own = await serve({ store, port: 0 });
  await store.createSession({ namespace: 'default', session: 'demo' }, { root: 'main', seed: 'x' });
  const { call } = doorOf('http', own.url, reading);
  for (const [verb, entry] of Object.entries(verbTable)) {
    if (!isWriting(entry)) continue;
    const { code, details } = await errorOf(call(verb, fullArguments(verb)));
    expect([verb, code, details['right']]).toEqual([verb, 'store.denied', entry.rights.at(-1)]);
  }
  expect(await codeOf(call('reprise.session', { session: 'new', create: true }))).toBe('store.denied');
  // A dry run only looks: the verb itself says that there is nothing at the point.
  expect(await codeOf(call('session.erase', { ref: 'demo@1', dryRun: true }))).not.toBe('store.denied');
  expect(await call('session.tree', { session: 'demo' })).toMatchObject({ head: 0 });
});

/** Returns arguments that the door takes. */
function fullArguments(verb: string): JsonObject {
  const values: Readonly<Record<string, JsonObject[string]>> = {
    text: 'demo',
    flag: false,
    number: 1,
    list: [],
    object: {},
  };
  const { at, takes = {} } = verbTable[verb as keyof typeof verbTable];
  const where = {
    store: {},
    session: { session: 'demo' },
    look: { ref: 'demo' },
    branch: { ref: 'demo' },
    point: { ref: 'demo@1' },
  };
  const needed = Object.entries(takes).filter(([, kind]) => !kind.endsWith('?'));
  return { ...where[at], ...Object.fromEntries(needed.map(([name, kind]) => [name, values[kind] ?? 'demo'])) };
}

describe.each(faces)('a token that is bound to an agent, by %s,', (face) => {
  test('gets the verbs of that agent, and nothing else (I7)', async () => {
    const { call } = door(face);
    await call('reprise.createSession', { session: 'demo' });
    const operations = [{ key: 'plan', op: 'write', value: 1 }];
    for (const agent of ['a1', 'a2']) await call('state.transaction', { ref: 'demo', agent, operations });
    const own = door(face, bound);
    expect(await own.call('state.get', { ref: 'demo', key: 'plan' })).toMatchObject({ agent: 'a1', value: 1 });
    expect(await codeOf(Array.fromAsync(own.list('state.replay', { ref: 'demo', agent: null })))).toBe('store.denied');
    const read = (await Array.fromAsync(own.list('state.replay', { ref: 'demo' }))) as { operations: JsonObject[] }[];
    expect(read.flatMap((held) => held.operations).map(({ agent }) => agent)).toEqual(['a1']);
    expect(await codeOf(own.call('state.get', { ref: 'demo', agent: 'a2', key: 'plan' }))).toBe('store.denied');
    for (const [verb, { isOfAgent, many }] of Object.entries(verbTable)) {
      if (isOfAgent === true) continue;
      const input = fullArguments(verb);
      const asked = many === undefined ? own.call(verb, input) : Array.fromAsync(own.list(verb, input));
      expect([verb, await codeOf(asked)]).toEqual([verb, 'store.denied']);
    }
    const headers = { authorization: `Bearer ${bound}` };
    expect((await fetch(`${server.url}/v1/replay/demo`, { headers })).status).toBe(403);
  });
});

test('curl records with plain JSON, and replays as lines', async () => {
  const { call } = door('http');
  await call('reprise.createSession', { session: 'a/b' });
  const events = Array.from({ length: 150 }, (_, index) => note(`${index} ${'x'.repeat(5_000)}`));
  await call('branch.append', { ref: 'a%2Fb', events });
  const get = async (path: string): Promise<Response> =>
    await fetch(`${server.url}/v1/replay/${path}`, { headers: { authorization: `Bearer ${token}` } });
  const response = await get('a%252Fb@100?after=97&leaveOut=digest,id');
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = (await response.text()).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual([98, 99, 100]);
  expect((await (await get('a%252Fb')).text()).trim().split('\n')).toHaveLength(150);
  expect([(await get('nowhere')).status, (await get('a%252Fb?x=1')).status]).toEqual([404, 400]);
});

test('the log and the figures name the verb that was asked for, and no text of the caller', async () => {
  const lines: unknown[] = [];
  const store = openMemoryStore({ platform });
  const { token: own, record } = makeToken({ rights: ['admin'] }, platform);
  await store.tokens.add(record);
  await using logged = await serve({ store, port: 0, log: (line) => lines.push(line) });
  for (const face of faces) {
    const { call, list } = doorOf(face, logged.url, own);
    await call('reprise.session', { session: 'demo', create: true });
    await Array.fromAsync(list('look.replay', { ref: 'demo' }));
    await codeOf(call('look.locate', { ref: 'nowhere' }));
    await codeOf(call('made up'));
  }
  const ended = (lines as { message: string; call: string; code: string; token: string }[]).filter(
    ({ message }) => message === 'A call ended',
  );
  const each = [
    ['reprise.session', 'ok'],
    ['look.replay', 'ok'],
    ['look.locate', 'session.not-found'],
    ['unknown verb', 'option.invalid'],
  ];
  expect(ended.map(({ call, code }) => [call, code])).toEqual(faces.flatMap(() => each));
  expect(new Set(ended.map((line) => line.token))).toEqual(new Set([record.id]));
  const headers = { authorization: `Bearer ${own}` };
  const figures = await (await fetch(`${logged.url}/metrics`, { headers })).text();
  expect(figures).toContain('reprise_requests_total{call="look.replay",code="ok"} 3');
  expect(figures).toContain('reprise_requests_total{call="look.locate",code="session.not-found"} 3');
  expect(figures).not.toContain('made up');
});
