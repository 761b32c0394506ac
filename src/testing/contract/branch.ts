import assert from 'node:assert/strict';
import { seq } from '../../core/point.ts';
import {
  append,
  type ContractCase,
  contractCase,
  fork,
  input,
  note,
  point,
  readAll,
  segment,
} from './contract-case.ts';

const head = (at: number) => ({ condition: { kind: 'head', seq: seq(at) } }) as const;

/** The guarantees of `branch`. */
export const branchCases: readonly ContractCase[] = [
  contractCase(
    'branch() of an empty branch is at 0 with the session’s genesis as its digest',
    async ({ store, ref }) => {
      const session = await store.session(ref);
      const record = await store.branch({ ...ref, branch: 'main' });
      const { createdAt, updatedAt, ...rest } = record ?? { createdAt: '', updatedAt: '' };
      assert.deepEqual(rest, {
        branch: 'main',
        root: 'main',
        head: 0,
        digest: session?.genesis,
        epoch: 0,
        turn: 0,
        markers: [],
      });
      assert.equal(createdAt, updatedAt);
    },
  ),

  contractCase(
    'branch() is undefined for a branch, session or namespace that does not exist',
    async ({ store, ref }) => {
      assert.equal(await store.branch({ ...ref, branch: 'nowhere' }), undefined);
      assert.equal(await store.branch({ ...ref, session: 'nowhere', branch: 'main' }), undefined);
      assert.equal(await store.branch({ ...ref, namespace: 'nowhere', branch: 'main' }), undefined);
    },
  ),

  contractCase('branch() gives the head, its digest, the turn, and the time of the last event', async (world) => {
    await append(world, [note('a', { turn: 4 }), note('b', { turn: 6, time: '2027-01-01T00:00:00.000Z' })]);
    const record = await world.store.branch({ ...world.ref, branch: 'main' });
    const [, last] = await readAll(world, [segment('main', 0, 2)]);
    assert.deepEqual(
      [record?.head, record?.digest, record?.turn, record?.updatedAt],
      [2, last?.digest, 6, '2027-01-01T00:00:00.000Z'],
    );
  }),

  contractCase(
    'branch() gives every structural event that leads to the head, each with the branch that stores it',
    async (world) => {
      await append(world, [note('a'), note('b'), note('c')]);
      await append(world, [input('event.reverted', { seqs: [1], target: 1 })], head(3));
      await fork(world, 'child', point('main', 4), [note('d')]);
      await append(world, [input('branch.rewound', { to: 2 })], head(4));
      await append(
        world,
        [input('event.inserted', { after: 2, event: { type: 'note.added', version: 1, time: '', turn: 3, data: {} } })],
        { branch: 'child', ...head(6) },
      );
      await append(
        world,
        [input('event.replaced', { seq: 3, event: { type: 'goal.set', version: 1, time: '', turn: 8, data: {} } })],
        { branch: 'child', ...head(7) },
      );
      await append(
        world,
        [
          input('branch.rewound', {
            toTurn: 0,
            dropped: [
              [0, 2],
              [5, 6],
            ],
          }),
        ],
        { branch: 'child', ...head(8) },
      );
      const child = await world.store.branch({ ...world.ref, branch: 'child' });
      assert.deepEqual(child?.markers, [
        { branch: 'main', seq: 4, kind: 'reverted', seqs: [1], redo: false },
        { branch: 'child', seq: 5, kind: 'forked' },
        { branch: 'child', seq: 7, kind: 'inserted', after: 2, turn: 3, type: 'note.added' },
        { branch: 'child', seq: 8, kind: 'replaced', target: 3, turn: 8, type: 'goal.set' },
        {
          branch: 'child',
          seq: 9,
          kind: 'rewoundToTurn',
          toTurn: 0,
          dropped: [
            { after: 0, through: 2 },
            { after: 5, through: 6 },
          ],
        },
      ]);
      assert.equal(child?.epoch, 9);
      const main = await world.store.branch({ ...world.ref, branch: 'main' });
      assert.deepEqual(
        main?.markers.map((marker) => [marker.seq, marker.kind]),
        [
          [4, 'reverted'],
          [5, 'rewound'],
        ],
      );
      assert.deepEqual([main?.epoch, main?.parent, child?.parent], [5, undefined, point('main', 4)]);
    },
  ),

  contractCase('branch() leaves out what the parent’s ancestors appended after the fork points', async (world) => {
    await append(world, [note('a')]);
    await fork(world, 'one', point('main', 1), [note('b')]);
    await fork(world, 'two', point('one', 2));
    await append(world, [input('event.reverted', { seqs: [1], target: 1 })], head(1));
    await append(world, [input('event.reverted', { seqs: [3], target: 3 })], { branch: 'one', ...head(3) });
    const two = await world.store.branch({ ...world.ref, branch: 'two' });
    assert.deepEqual(
      two?.markers.map((marker) => [marker.branch, marker.seq]),
      [
        ['one', 2],
        ['two', 3],
      ],
    );
  }),

  contractCase('branch() reads a chain of 300 forks', async (world) => {
    await append(world, [note('a')]);
    let parent = point('main', 1);
    for (let index = 1; index <= 300; index++) {
      const branch = `b${index}`;
      await fork(world, branch, parent);
      parent = point(branch, index + 1);
    }
    const record = await world.store.branch({ ...world.ref, branch: 'b300' });
    assert.deepEqual([record?.head, record?.markers.length, record?.root], [301, 300, 'main']);
  }),
];
