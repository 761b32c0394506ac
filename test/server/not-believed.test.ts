import { afterEach, expect, test } from 'vitest';
import { openRemoteStore } from '../../src/client/open-remote-store.ts';
import { canonicalJson } from '../../src/core/canonical-json.ts';
import { upcastsVersion } from '../../src/core/event/upcast.ts';
import type { EventInput, EventStore } from '../../src/core/store/event-store.ts';
import { openReprise, ownedKey, summary } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import type { Grant } from '../../src/server/guarding/grant.ts';
import { guardStore } from '../../src/server/guarding/guarded-store.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { input, note, request, saltedPart, sha256 } from '../../src/testing/contract/contract-case.ts';
import { everything, serving } from './running-server.ts';

const platform = createNodePlatform();
const ref = { namespace: 'default', session: 'demo' };
const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

/** A store behind a guard, as the calls of a lying client reach it: keys and all. */
async function guarded(grant: Grant = everything) {
  const store = openMemoryStore({ platform });
  await store.createSession(ref, { root: 'main', seed: 'x' });
  const guard = { store, platform, shipped: new Set(['summary']), keep: () => undefined };
  return { store, lying: guardStore(guard, grant), as: (token: string) => guardStore(guard, { ...grant, token }) };
}

async function outcomeOf(store: Pick<EventStore, 'append'>, events: EventInput[], parts = [] as never[]) {
  const [outcome] = await store.append([request(ref, events, { parts })]);
  return outcome?.ok === true ? 'ok' : outcome?.error.code;
}

test('a note under the key of an agent’s state does not hide the state', async () => {
  const { store, lying } = await guarded();
  const reprise = await openReprise({ store, platform });
  const session = await reprise.session('demo');
  await session.state.as('support').transaction((tx) => tx.write('plan', { next: 'ask' }));
  const forged = note('nothing here', { keys: [ownedKey('state', 'support', 'plan')] });
  expect(await outcomeOf(lying, [forged])).toBe('ok');
  expect(await session.state.as('support').get('plan')).toMatchObject({ exists: true, value: { next: 'ask' } });
});

test.each([
  ['an agent with a control character', note('a', { agent: 'a\u0001b' }), 'id.invalid'],
  ['an id with a line break', note('a', { id: 'a\nb' }), 'id.invalid'],
  ['data that is no JSON', { ...note('a'), data: '{' }, 'event.invalid'],
  ['data that is not canonical', { ...note('a'), data: '{ "text": "a" }' }, 'event.invalid'],
  ['a reference hidden by an escape', { ...note('a'), data: '{"\\u0024part":"a"}' }, 'event.invalid'],
  ['a field of the wrong form', input('note.added', { text: 1 }), 'event.invalid'],
  ['a time that sorts elsewhere', note('a', { time: '15 Nov 2026' }), 'time.invalid'],
  ['an erasure', input('payload.erased', { parts: [], seqs: [1] }), 'event.reserved'],
])('an append refuses %s', async (_, event, code) => {
  const { lying } = await guarded();
  expect(await outcomeOf(lying, [event])).toBe(code);
});

test('an append refuses a delta that is not the body of its digest', async () => {
  const { lying } = await guarded();
  const body = await saltedPart('body', 'the whole body');
  const salt = 'c2FsdHNhbHRzYWx0c2Fs';
  const delta = async (claimed: string, middle: string) => ({
    digest: await sha256(`${salt}${claimed}`),
    kind: 'delta' as const,
    salt,
    text: canonicalJson({ base: body.digest, middle, prefix: 10, suffix: 0 }),
    refs: [body.digest],
  });
  const [honest, lie] = [await delta('the whole body!', 'body!'), await delta('something else', 'body!')];
  expect(await outcomeOf(lying, [note('a')], [body, lie] as never[])).toBe('part.damaged');
  expect(await outcomeOf(lying, [note('a')], [body, honest] as never[])).toBe('ok');
  const later = await delta('the whole body?', 'body!');
  expect(await outcomeOf(lying, [note('b')], [later] as never[])).toBe('part.damaged');
});

test('a snapshot is given only to the token that put it', async () => {
  const { lying, as } = await guarded();
  await outcomeOf(lying, [note('a')]);
  const { digest = '', head = 0 } = (await lying.branchHead({ ...ref, branch: 'main' })) ?? {};
  const key = { projection: 'mine', version: '1', upcasts: 0, erasures: 0 };
  await as('liar').putSnapshot(ref, { ...key, branch: 'main', seq: head, digest, value: '"lie"' } as never);
  const onMain = { ...ref, branch: 'main' };
  const asked = { keys: [key], within: [{ branch: 'main', through: head as never }] };
  expect(await as('reader').snapshots(ref, asked)).toEqual([]);
  expect(await as('liar').snapshots(ref, asked)).toMatchObject([{ projection: 'mine', value: '"lie"' }]);
  expect(await as('reader').snapshot(onMain, key, head as never)).toBeUndefined();
  expect(await as('liar').snapshot(onMain, key, head as never)).toMatchObject({ projection: 'mine', value: '"lie"' });
});

test('a lying snapshot of a shipped projection is not kept; the server makes its own', async () => {
  const store = openMemoryStore({ platform });
  const server = await serving(store);
  const remote = await openRemoteStore({ url: server.url, platform, release: 'test' });
  const reprise = await openReprise({ store: remote, platform });
  running.push(async () => {
    await reprise.close();
    await server.close();
  });
  const session = await reprise.createSession('demo');
  await session.append(Array.from({ length: 300 }, (_, index) => ({ type: 'note.added', data: { text: `${index}` } })));
  const head = await store.branchHead({ ...ref, branch: 'main' });
  const key = { projection: summary.name, version: summary.version ?? '', upcasts: upcastsVersion, erasures: 0 };
  const place = { branch: 'main', seq: head?.head ?? 0, digest: head?.digest ?? '' };
  await remote.putSnapshot(ref, { ...key, ...place, value: '{"events":7}' } as never);
  await server.close();
  const kept = await store.snapshot({ ...ref, branch: 'main' }, key, place.seq as never);
  expect(kept?.value).toBeDefined();
  expect(kept?.value).not.toBe('{"events":7}');
});
