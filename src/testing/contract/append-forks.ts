import assert from 'node:assert/strict';
import { seq } from '../../core/point.ts';
import {
  append,
  type ContractCase,
  contractCase,
  fork,
  forked,
  input,
  note,
  point,
  readAll,
  refused,
  request,
  segment,
  seqsOf,
} from './contract-case.ts';

/** The guarantees of `append` about forks. */
export const appendForks: readonly ContractCase[] = [
  contractCase('append() forks at a point: the child continues its numbers and its chain', async (world) => {
    await append(world, [note('a'), note('b'), note('c')]);
    const child = await fork(world, 'child', point('main', 2), [note('d')]);
    assert.deepEqual([child.branch, seqsOf(child.events)], ['child', [3, 4]]);
    assert.deepEqual(seqsOf(await readAll(world, [segment('child', 0, 9)])), [3, 4], 'nothing was copied');
    assert.deepEqual(seqsOf(await readAll(world, [segment('main', 0, 9)])), [1, 2, 3]);
  }),

  contractCase('append() forks at 0, at the head, and a fork of a fork of a fork', async (world) => {
    await append(world, [note('a'), note('b')]);
    assert.deepEqual(seqsOf((await fork(world, 'empty', point('main', 0))).events), [1]);
    assert.deepEqual(seqsOf((await fork(world, 'one', point('main', 2))).events), [3]);
    assert.deepEqual(seqsOf((await fork(world, 'two', point('one', 3))).events), [4]);
    assert.deepEqual(seqsOf((await fork(world, 'three', point('two', 4), [note('c')])).events), [5, 6]);
    const record = await world.store.branch({ ...world.ref, branch: 'three' });
    assert.deepEqual(
      record?.markers.map(({ branch, seq: at, kind }) => [branch, at, kind]),
      [
        ['one', 3, 'forked'],
        ['two', 4, 'forked'],
        ['three', 5, 'forked'],
      ],
    );
  }),

  contractCase('append() refuses a fork from a point its parent does not store', async (world) => {
    await append(world, [note('a'), note('b')]);
    await fork(world, 'child', point('main', 1), [note('c')]);
    const at = (branch: string, parent: string, from: number) =>
      ({ target: { kind: 'fork', branch, parent: point(parent, from) } }) as const;
    await refused(world, 'point.out-of-range', [forked(seq(3))], at('x', 'main', 3));
    await refused(world, 'point.out-of-range', [forked(seq(1))], at('x', 'child', 1));
    await refused(world, 'point.out-of-range', [forked(seq(0))], at('x', 'child', 0));
    await refused(world, 'branch.not-found', [forked(seq(1))], at('x', 'nowhere', 1));
    await refused(world, 'branch.exists', [forked(seq(1))], at('main', 'main', 1));
    await refused(world, 'branch.exists', [forked(seq(1))], at('child', 'main', 1));
    await refused(world, 'edit.invalid', [note('not a fork')], at('x', 'main', 1));
    await refused(world, 'edit.invalid', [forked(seq(1)), forked(seq(1))], at('x', 'main', 1));
    assert.deepEqual(
      (await world.store.branches(world.ref)).map((branch) => branch.branch),
      ['main', 'child'],
    );
  }),

  contractCase('append() gives a fork its edits in the same write', async (world) => {
    await append(world, [note('a', { turn: 1 }), note('b', { turn: 2 })]);
    await fork(world, 'child', point('main', 2), [input('event.reverted', { seqs: [2], target: 2 }), note('c')]);
    const record = await world.store.branch({ ...world.ref, branch: 'child' });
    assert.deepEqual(
      record?.markers.map((marker) => [marker.kind, marker.seq]),
      [
        ['forked', 3],
        ['reverted', 4],
      ],
    );
    const [, , event] = await readAll(world, [segment('child', 2, 9)]);
    assert.equal(event?.turn, 1, 'the last event of the view is the one before the reverted one');
  }),

  contractCase(
    'append() begins a fork with the turn and epoch of the point, not of the parent’s head',
    async (world) => {
      await append(world, [note('a', { turn: 1 }), note('b', { turn: 2 })]);
      await append(world, [input('branch.rewound', { to: 1 })], { condition: { kind: 'head', seq: seq(2) } });
      await append(world, [note('c', { turn: 9 })]);
      await fork(world, 'before', point('main', 2), [note('d')]);
      await fork(world, 'after', point('main', 3), [note('e')]);
      const turns = await Promise.all(
        ['before', 'after'].map(async (branch) => (await world.store.branch({ ...world.ref, branch }))?.turn),
      );
      assert.deepEqual(turns, [2, 1]);
      assert.equal((await world.store.branch({ ...world.ref, branch: 'before' }))?.epoch, 0);
      assert.equal((await world.store.branch({ ...world.ref, branch: 'after' }))?.epoch, 3);
    },
  ),

  contractCase(
    'append() digests a fork without edits or new events like nothing else, and two equal forks differ',
    async (world) => {
      await append(world, [note('a')]);
      const one = await fork(world, 'one', point('main', 1));
      const two = await fork(world, 'two', point('main', 1));
      assert.notEqual(one.events[0]?.digest, two.events[0]?.digest);
    },
  ),

  contractCase('append() lets the requests of one call see each other in order', async ({ store, ref }) => {
    const target = { kind: 'fork', branch: 'child', parent: point('main', 1) } as const;
    const outcomes = await store.append([
      request(ref, [note('a')]),
      request(ref, [forked(seq(1))], { target }),
      request(ref, [note('b')], { branch: 'child' }),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.ok && seqsOf(outcome.events)),
      [[1], [2], [3]],
    );
  }),
];
