import assert from 'node:assert/strict';
import { append, type ContractCase, contractCase, fork, note, point } from './contract-case.ts';

/** What `branches` promises. */
export const branchesCases: readonly ContractCase[] = [
  contractCase('branches() lists every branch by creation with its parent, head, digest and bytes', async (world) => {
    await append(world, [note('a'), note('ü', { time: '2027-01-01T00:00:00.000Z' })]);
    await fork(world, 'zebra', point('main', 1));
    await fork(world, 'ant', point('zebra', 2));
    const branches = await world.store.branches(world.ref);
    assert.deepEqual(
      branches.map(({ branch, parent, head }) => [branch, parent, head]),
      [
        ['main', undefined, 2],
        ['zebra', point('main', 1), 2],
        ['ant', point('zebra', 2), 3],
      ],
    );
    assert.equal(branches[0]?.bytes, '{"text":"a"}'.length + '{"text":"ü"}'.length + 1, 'bytes are of UTF-8');
    assert.equal(branches[0]?.updatedAt, '2027-01-01T00:00:00.000Z');
    for (const { branch, digest } of branches)
      assert.equal(digest, (await world.store.branch({ ...world.ref, branch }))?.digest);
  }),

  contractCase('branches() counts bytes right across many appends', async (world) => {
    let bytes = 0;
    for (let index = 0; index < 30; index++) {
      const events = Array.from({ length: 50 }, (_, at) => note(`${index}-${at}`));
      for (const event of events) bytes += event.data.length;
      await append(world, events);
    }
    assert.equal((await world.store.branches(world.ref))[0]?.bytes, bytes);
  }),

  contractCase('branches() is empty for a session that does not exist', async ({ store, ref }) => {
    assert.deepEqual(await store.branches({ ...ref, session: 'nowhere' }), []);
    assert.equal((await store.branches(ref)).length, 1);
  }),
];
