import assert from 'node:assert/strict';
import { seq } from '../../core/point.ts';
import type { BranchHead } from '../../core/store/event-store.ts';
import { append, type ContractCase, contractCase, fork, input, note, point, type World } from './contract-case.ts';

const head = (at: number) => ({ condition: { kind: 'head', seq: seq(at) } }) as const;

/** Expects `branchHead` to answer what `branch` says, and nothing else. */
async function agrees({ store, ref }: World, branch: string): Promise<BranchHead | undefined> {
  const found = await store.branchHead({ ...ref, branch });
  const record = await store.branch({ ...ref, branch });
  assert.ok(found !== undefined && record !== undefined);
  const { parent, digest, epoch } = record;
  const fields = { branch, head: record.head, digest, epoch };
  assert.deepEqual(found, parent === undefined ? fields : { ...fields, parent });
  // Stores may keep what they read: the next answer is the same.
  assert.deepEqual(await store.branchHead({ ...ref, branch }), found);
  return found;
}

/** The guarantees of `branchHead`. */
export const branchHeadCases: readonly ContractCase[] = [
  contractCase('branchHead() of an empty branch is at 0 with the session’s genesis as its digest', async (world) => {
    const session = await world.store.session(world.ref);
    assert.deepEqual(await world.store.branchHead({ ...world.ref, branch: 'main' }), {
      branch: 'main',
      head: 0,
      digest: session?.genesis,
      epoch: 0,
    });
  }),

  contractCase(
    'branchHead() is undefined for a branch, session or namespace that does not exist',
    async ({ store, ref }) => {
      assert.equal(await store.branchHead({ ...ref, branch: 'nowhere' }), undefined);
      assert.equal(await store.branchHead({ ...ref, session: 'nowhere', branch: 'main' }), undefined);
      assert.equal(await store.branchHead({ ...ref, namespace: 'nowhere', branch: 'main' }), undefined);
    },
  ),

  contractCase('branchHead() moves with every append', async (world) => {
    for (const text of ['a', 'b', 'c']) {
      const { events } = await append(world, [note(text)]);
      const found = await world.store.branchHead({ ...world.ref, branch: 'main' });
      assert.deepEqual([found?.head, found?.digest], [events[0]?.seq, events[0]?.digest]);
    }
  }),

  contractCase(
    'branchHead() gives the seq of the last rewind, an ancestor’s before the fork included',
    async (world) => {
      await append(world, [note('a'), note('b')]);
      await fork(world, 'before', point('main', 2));
      await append(world, [input('branch.rewound', { to: 1 })], head(2));
      await fork(world, 'after', point('main', 3));
      await fork(world, 'again', point('after', 4));
      await append(world, [input('event.reverted', { seqs: [1], target: 1 })], head(3));
      assert.equal((await agrees(world, 'before'))?.epoch, 0);
      assert.equal((await agrees(world, 'main'))?.epoch, 3);
      assert.equal((await agrees(world, 'after'))?.epoch, 3);
      assert.equal((await agrees(world, 'again'))?.epoch, 3);
      await append(world, [input('branch.rewound', { toTurn: 0, dropped: [[0, 1]] })], { branch: 'again', ...head(5) });
      assert.equal((await agrees(world, 'again'))?.epoch, 6);
    },
  ),

  contractCase('branchHead() gives the point where a branch was forked', async (world) => {
    await append(world, [note('a'), note('b')]);
    await fork(world, 'child', point('main', 1), [note('c')]);
    assert.deepEqual((await agrees(world, 'child'))?.parent, point('main', 1));
  }),
];
