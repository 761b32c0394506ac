import assert from 'node:assert/strict';
import { given } from '../../core/json.ts';
import type { SessionRef } from '../../core/store/event-store.ts';
import {
  append,
  type ContractCase,
  contractCase,
  fork,
  input,
  keyed,
  keyOf,
  note,
  point,
  readAll,
  rejects,
  segment,
  sha256,
  textsOf,
  valuePart,
  type World,
} from './contract-case.ts';

async function made({ store }: World, namespace: string, session: string, root = 'main'): Promise<World> {
  const ref = { namespace, session };
  await store.createSession(ref, { root, seed: `${namespace} ${session}` });
  return { store, ref };
}

const hostile = [
  'a',
  'a:b',
  'b',
  'a/b',
  '%',
  '_',
  'a%',
  '*',
  "'; DROP TABLE events; --",
  '"',
  '\\',
  ' ',
  '..',
  'A',
  'ä',
  'a\u0308',
  '日本',
  '\u{1F600}',
  '\uFFFD',
  '0',
  '-1',
  'null',
  'constructor',
  '__proto__',
  'toString',
];

/** The guarantees of `createSession`. */
export const createSessionCases: readonly ContractCase[] = [
  contractCase('createSession() makes one empty branch of the name that was asked for', async (world) => {
    const other = await made(world, 'default', 'other', 'trunk');
    const record = await world.store.session(other.ref);
    assert.deepEqual(
      [record?.root, record?.seed, record?.genesis, record?.erasures],
      ['trunk', 'default other', await sha256('reprise:1:default other'), 0],
    );
    assert.deepEqual(
      (await world.store.branches(other.ref)).map(({ branch, head, digest }) => [branch, head, digest]),
      [['trunk', 0, record?.genesis]],
    );
    assert.deepEqual((await append(other, [note('a')], { branch: 'trunk' })).events[0]?.seq, 1);
  }),

  contractCase('createSession() refuses an id that is taken in the namespace, and only there', async (world) => {
    await rejects(world.store.createSession(world.ref, { root: 'main', seed: 'x' }), 'session.exists');
    await made(world, 'elsewhere', 'demo');
    const tries = await Promise.allSettled(Array.from({ length: 5 }, () => made(world, 'default', 'once')));
    assert.equal(tries.filter((outcome) => outcome.status === 'fulfilled').length, 1);
  }),

  contractCase(
    'createSession() keeps namespaces and sessions apart whatever characters are in their ids',
    async (world) => {
      const refs: SessionRef[] = hostile.flatMap((namespace) =>
        ['a', 'b', namespace].map((session) => ({ namespace, session: `${session}!` })),
      );
      const unique = [...new Map(refs.map((ref) => [JSON.stringify(ref), ref])).values()];
      const names = (ref: SessionRef) => `${ref.namespace} | ${ref.session}`;
      for (const ref of unique) {
        const own = await made(world, ref.namespace, ref.session);
        await append(own, [
          note(names(ref), { id: 'same', agent: ref.namespace }),
          keyed([names(ref)], { id: 'same too' }),
        ]);
      }
      for (const ref of unique) {
        const own = { store: world.store, ref };
        assert.deepEqual(textsOf(await readAll(own, [segment('main', 0, 1)])), [names(ref)]);
        const { entries } = await world.store.latest(
          ref,
          [segment('main', 0, 9)],
          { prefix: '' },
          { limit: 10, select: 'header' },
        );
        assert.deepEqual(
          entries.map((entry) => entry.key),
          [keyOf(names(ref))],
        );
        const listed = await world.store.sessions({ namespace: ref.namespace, limit: 100 });
        assert.ok(listed.sessions.every((session) => session.namespace === ref.namespace));
      }
    },
  ),

  contractCase('createSession() and append() digest equally in sessions of different names', async (world) => {
    const [one, two] = [await made(world, 'x', 'one'), await made(world, 'y', 'two')];
    const [first, second] = [await world.store.session(one.ref), await world.store.session(two.ref)];
    assert.notEqual(first?.genesis, second?.genesis);
    await world.store.createSession({ namespace: 'z', session: 'three' }, { root: 'trunk', seed: first?.seed ?? '' });
    assert.equal(
      (await world.store.session({ namespace: 'z', session: 'three' }))?.genesis,
      first?.genesis,
      'names are no part of it',
    );
  }),
];

/** The guarantees of `session`. */
export const sessionCases: readonly ContractCase[] = [
  contractCase('session() gives what was created, and the time of what was appended last', async (world) => {
    const before = await world.store.session(world.ref);
    assert.deepEqual(
      [before?.namespace, before?.session, before?.root, before?.seed],
      ['default', 'demo', 'main', 'seed'],
    );
    assert.equal(before?.createdAt, before?.updatedAt);
    await append(world, [note('a', { time: '2030-01-01T00:00:00.000Z' })]);
    await fork(world, 'child', point('main', 1), [note('b', { time: '2029-01-01T00:00:00.000Z' })]);
    assert.deepEqual(await world.store.session(world.ref), { ...before, updatedAt: '2029-01-01T00:00:00.000Z' });
  }),

  contractCase('session() is undefined for what does not exist', async ({ store, ref }) => {
    assert.equal(await store.session({ ...ref, session: 'Demo' }), undefined);
    assert.equal(await store.session({ ...ref, namespace: 'nowhere' }), undefined);
  }),
];

/** The guarantees of `sessions`. */
export const sessionsCases: readonly ContractCase[] = [
  contractCase('sessions() lists the one that was appended to last first, whatever the clock says', async (world) => {
    const [a, b] = [await made(world, 'default', 'a'), await made(world, 'default', 'b')];
    const names = async () => (await world.store.sessions({ limit: 10 })).sessions.map((session) => session.session);
    assert.deepEqual(await names(), ['b', 'a', 'demo']);
    await append(a, [note('x', { time: '1999-01-01T00:00:00.000Z' })]);
    assert.deepEqual(await names(), ['a', 'b', 'demo']);
    await append(world, [note('x')]);
    await append(world, [note('y')]);
    assert.deepEqual(await names(), ['demo', 'a', 'b']);
    await Promise.all([append(b, [note('x')]), append(a, [note('x')])]);
    assert.deepEqual(await names(), ['a', 'b', 'demo']);
  }),

  contractCase('sessions() pages through every session once, of one namespace or of all', async (world) => {
    for (let index = 0; index < 12; index++) await made(world, index % 2 === 0 ? 'even' : 'odd', `s${index}`);
    const all = async (namespace?: string) => {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await world.store.sessions({
          limit: 5,
          ...given({ namespace, cursor }),
        });
        assert.ok(page.sessions.length <= 5);
        found.push(...page.sessions.map((session) => session.session));
        cursor = page.next;
      } while (cursor !== undefined);
      return found;
    };
    assert.deepEqual(await all(), [...Array.from({ length: 12 }, (_, index) => `s${11 - index}`), 'demo']);
    assert.deepEqual(await all('odd'), ['s11', 's9', 's7', 's5', 's3', 's1']);
    assert.deepEqual(await all('nowhere'), []);
  }),
];

/** The guarantees of `deleteSession`. */
export const deleteSessionCases: readonly ContractCase[] = [
  contractCase('deleteSession() leaves nothing of the session, and the id can be used again', async (world) => {
    const { store, ref } = world;
    const part = await valuePart('{"a":1}');
    const event = keyed(['k']);
    await append(world, [event, ...Array.from({ length: 2_500 }, (_, index) => keyed([`k${index}`]))], {
      parts: [part],
    });
    await fork(world, 'child', point('main', 1));
    await store.putReceipt(ref, { digest: part.digest, kind: 'x', createdAt: '', body: {} });
    assert.equal(await store.deleteSession(ref), true);
    assert.equal(await store.deleteSession(ref), false);
    assert.equal(await store.session(ref), undefined);
    assert.deepEqual([await store.branches(ref), (await store.sessions({ limit: 9 })).sessions], [[], []]);
    await store.createSession(ref, { root: 'main', seed: 'new' });
    assert.deepEqual(await readAll(world, [segment('main', 0, 9), segment('child', 0, 9)]), []);
    assert.deepEqual(
      (await store.latest(ref, [segment('main', 0, 9)], { prefix: '' }, { limit: 9, select: 'full' })).entries,
      [],
    );
    assert.deepEqual([await store.heldParts(ref, { limit: 9 }), await store.receipts(ref, part.digest)], [[], []]);
    assert.equal((await append(world, [event])).known, false);
  }),

  contractCase('deleteSession() leaves the parts of other sessions alone', async (world) => {
    const other = await made(world, 'default', 'other');
    const [shared, own] = [await valuePart('{"shared":true}'), await valuePart('{"own":true}')];
    await append(world, [note('a')], { parts: [shared, own] });
    await append(other, [input('thing.kept', { held: { $part: shared.digest } })], { parts: [shared] });
    await world.store.deleteSession(world.ref);
    assert.equal((await world.store.parts(other.ref, [shared.digest])).parts.get(shared.digest)?.text, shared.text);
    await append(other, [input('thing.kept', { held: { $part: shared.digest } })]);
    assert.equal(textsOf(await readAll(other, [segment('main', 0, 9)])).length, 2);
  }),
];
