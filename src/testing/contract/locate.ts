import assert from 'node:assert/strict';
import { append, type ContractCase, contractCase, fork, newId, note, point } from './contract-case.ts';

/** The guarantees of `locate`. */
export const locateCases: readonly ContractCase[] = [
  contractCase(
    'locate() says which branch stores an event and where, and leaves out ids it does not know',
    async (world) => {
      const [a, b, c] = [note('a'), note('b'), note('c', { id: '%' })];
      await append(world, [a, b]);
      await fork(world, 'child', point('main', 1), [c]);
      const found = await world.store.locate(world.ref, [c.id, 'nowhere', b.id, '_']);
      assert.deepEqual(
        [...found].sort(),
        [
          ['%', point('child', 3)],
          [b.id, point('main', 2)],
        ].sort(),
      );
      assert.equal((await world.store.locate(world.ref, [])).size, 0);
    },
  ),

  contractCase('locate() takes many ids at once', async (world) => {
    const events = Array.from({ length: 2_000 }, (_, index) => note(String(index)));
    await append(world, events);
    const found = await world.store.locate(world.ref, [...events.map((event) => event.id), newId()]);
    assert.equal(found.size, 2_000);
    assert.deepEqual(found.get(events[1_999]?.id ?? ''), point('main', 2_000));
  }),

  contractCase('locate() finds nothing of another session', async (world) => {
    const { store, ref } = world;
    const event = note('a');
    await append(world, [event]);
    await store.createSession({ ...ref, session: 'other' }, { root: 'main', seed: 'other' });
    assert.equal((await store.locate({ ...ref, session: 'other' }, [event.id])).size, 0);
    assert.equal((await store.locate({ ...ref, session: 'nowhere' }, [event.id])).size, 0);
  }),
];
