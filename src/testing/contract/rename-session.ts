import assert from 'node:assert/strict';
import {
  append,
  type ContractCase,
  contractCase,
  fork,
  input,
  keyed,
  note,
  point,
  readAll,
  rejects,
  segment,
  textsOf,
  valuePart,
  type World,
} from './contract-case.ts';

async function made({ store, ref }: World, session: string): Promise<World> {
  const other = { namespace: ref.namespace, session };
  await store.createSession(other, { root: 'main', seed: session });
  return { store, ref: other };
}

const named = ({ store, ref }: World, session: string): World => ({ store, ref: { ...ref, session } });

async function texts(world: World, branch = 'main'): Promise<unknown[]> {
  return textsOf(await readAll(world, [segment(branch, 0, 9)]));
}

/** The guarantees of `renameSession`. */
export const renameSessionCases: readonly ContractCase[] = [
  contractCase('renameSession() gives a session another id with all it holds', async (world) => {
    const part = await valuePart('{"a":1}');
    const first = keyed(['k']);
    await append(world, [first, input('thing.kept', { held: { $part: part.digest } })], { parts: [part] });
    await fork(world, 'child', point('main', 1), [note('b')]);
    const before = await world.store.session(world.ref);
    await world.store.renameSession(world.ref, { to: 'other' });
    const other = named(world, 'other');
    assert.equal(await world.store.session(world.ref), undefined);
    assert.deepEqual(await world.store.session(other.ref), { ...before, session: 'other' });
    assert.deepEqual(await texts(other, 'child'), [undefined, 'b']);
    assert.deepEqual(await world.store.heldParts(other.ref, { limit: 9 }), [part.digest]);
    assert.equal((await append(other, [first])).known, true);
    await append(other, [note('c')], { condition: { kind: 'head', seq: point('main', 2).seq } });
    await rejects(append(world, [note('d')]), 'session.not-found');
    await rejects(world.store.renameSession(world.ref, { to: 'third' }), 'session.not-found');
    await world.store.createSession(world.ref, { root: 'main', seed: 'new' });
    assert.deepEqual(await texts(world), []);
  }),

  contractCase(
    'renameSession() refuses an id that is taken, and takes it only from the session that was meant',
    async (world) => {
      const other = await made(world, 'other');
      await append(world, [note('a')]);
      await append(other, [note('b')]);
      await fork(other, 'child', point('main', 1));
      await rejects(world.store.renameSession(world.ref, { to: 'other' }), 'session.exists');
      const replaces = await world.store.branches(other.ref);
      await append(other, [note('c')]);
      await rejects(world.store.renameSession(world.ref, { to: 'other', replaces }), 'append.conflict');
      await rejects(world.store.renameSession(world.ref, { to: 'other', replaces: [] }), 'append.conflict');
      const [main] = await world.store.branches(other.ref);
      assert.ok(main !== undefined);
      await rejects(world.store.renameSession(world.ref, { to: 'other', replaces: [main] }), 'append.conflict');
      assert.deepEqual([await texts(world), await texts(other)], [['a'], ['b', 'c']]);
      await world.store.renameSession(world.ref, { to: 'other', replaces: await world.store.branches(other.ref) });
      assert.deepEqual(await texts(other), ['a']);
      assert.deepEqual((await world.store.branches(other.ref)).length, 1);
      assert.equal(await world.store.session(world.ref), undefined);
      assert.equal((await world.store.sessions({ limit: 9 })).sessions.length, 1);
    },
  ),

  contractCase('renameSession() leaves nothing of the session it replaces', async (world) => {
    const other = await made(world, 'other');
    const [own, shared] = [await valuePart('{"own":1}'), await valuePart('{"shared":1}')];
    const events = Array.from({ length: 1_200 }, (_, index) => keyed([`k${index}`]));
    await append(other, events, { parts: [own, shared] });
    await append(world, [note('a')], { parts: [shared] });
    await world.store.renameSession(world.ref, { to: 'other', replaces: await world.store.branches(other.ref) });
    assert.deepEqual(await world.store.heldParts(other.ref, { limit: 9 }), [shared.digest]);
    assert.equal((await world.store.parts(other.ref, [shared.digest])).parts.get(shared.digest)?.text, shared.text);
    const keys = await world.store.latest(
      other.ref,
      [segment('main', 0, 9_999)],
      { prefix: '' },
      { limit: 9, select: 'header' },
    );
    assert.deepEqual(keys.entries, []);
  }),
];
