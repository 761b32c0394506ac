import assert from 'node:assert/strict';
import { given } from '../../core/json.ts';
import { type Digest, type Seq, seq } from '../../core/point.ts';
import type { Snapshot, SnapshotKey } from '../../core/store/event-store.ts';
import { snapshotValuesMax } from '../../core/store/snapshot-key.ts';
import {
  append,
  type ContractCase,
  contractCase,
  fork,
  noDigest,
  note,
  point,
  readAll,
  rejects,
  segment,
  type World,
} from './contract-case.ts';

const key: SnapshotKey = { projection: 'own', version: '1', upcasts: 2, erasures: 0 };
const snapshotAt = (at: number, more: Partial<Snapshot> = {}): Snapshot => ({
  ...key,
  branch: 'main',
  seq: seq(at),
  digest: noDigest,
  value: `{"at":${at}}`,
  ...more,
});

/** Appends three notes to `main`, forks `child` at the first, keeps a snapshot at each, and returns their digests. */
async function kept(world: World): Promise<readonly Digest[]> {
  await append(world, [note('a'), note('b'), note('c')]);
  await fork(world, 'child', point('main', 1));
  const digests = (await readAll(world, [segment('main', 0, 3)])).map(({ digest }) => digest);
  for (const at of [3, 1, 2]) await world.store.putSnapshot(world.ref, placed(digests, at));
  return digests;
}

const placed = (digests: readonly Digest[], at: number, more: Partial<Snapshot> = {}): Snapshot =>
  snapshotAt(at, { digest: digests[at - 1] ?? noDigest, ...more });

const main = (world: World) => ({ ...world.ref, branch: 'main' });
const found = (world: World, keys: readonly SnapshotKey[], within: readonly (readonly [string, number])[]) =>
  world.store.snapshots(world.ref, {
    keys,
    within: within.map(([branch, through]) => ({ branch, through: seq(through) })),
  });
const seqs = async (world: World, through: number, more: Partial<SnapshotKey> = {}): Promise<Seq[]> =>
  (await found(world, [{ ...key, ...more }], [['main', through]])).map((held) => held.seq);

/** The guarantees of `putSnapshot`. */
export const putSnapshotCases: readonly ContractCase[] = [
  contractCase('putSnapshot() replaces the snapshot of the same place', async (world) => {
    const digests = await kept(world);
    await world.store.putSnapshot(world.ref, placed(digests, 2, { value: '{"new":true}' }));
    assert.equal((await world.store.snapshot(main(world), key, seq(2)))?.value, '{"new":true}');
    assert.deepEqual(await seqs(world, 9), [3, 2, 1]);
  }),

  contractCase('putSnapshot() leaves out what was made before the last erasure', async (world) => {
    await kept(world);
    await world.store.putSnapshot(world.ref, snapshotAt(1, { erasures: 1 }));
    assert.deepEqual(await seqs(world, 9, { erasures: 1 }), [], 'the session has had none');
    assert.deepEqual(await seqs(world, 9), [3, 2, 1]);
  }),

  contractCase('putSnapshot() refuses a session and a branch that do not exist', async ({ store, ref }) => {
    await rejects(store.putSnapshot({ ...ref, session: 'nowhere' }, snapshotAt(1)), 'session.not-found');
    await rejects(store.putSnapshot(ref, snapshotAt(1, { branch: 'nowhere' })), 'branch.not-found');
  }),
];

/** The guarantees of `snapshots`. */
export const snapshotsCases: readonly ContractCase[] = [
  contractCase(
    'snapshots() lists those at or before a seq, nearest first, the nearest with its value',
    async (world) => {
      const digests = await kept(world);
      assert.deepEqual(await seqs(world, 9), [3, 2, 1]);
      assert.deepEqual(await seqs(world, 2), [2, 1]);
      assert.deepEqual(await seqs(world, 0), []);
      const { value: _, ...place } = placed(digests, 1);
      assert.deepEqual(await found(world, [key], [['main', 2]]), [placed(digests, 2), place]);
    },
  ),

  contractCase('snapshots() answers for several keys, and for the branches that lead to a point', async (world) => {
    const digests = await kept(world);
    const other = { ...key, projection: 'a' };
    const [, atFork] = await readAll(world, [segment('main', 0, 1), segment('child', 1, 2)]);
    const onChild = snapshotAt(2, { ...other, branch: 'child', digest: atFork?.digest ?? noDigest });
    await world.store.putSnapshot(world.ref, onChild);
    await world.store.putSnapshot(world.ref, placed(digests, 1, { projection: 'a' }));
    const { value: _, ...below } = placed(digests, 1, { projection: 'a' });
    const lineage = [
      ['child', 2],
      ['main', 1],
    ] as const;
    assert.deepEqual(await found(world, [key, { ...key, version: '9' }, other], lineage), [
      placed(digests, 1),
      onChild,
      below,
    ]);
    assert.deepEqual(await found(world, [], lineage), []);
    assert.deepEqual(await found(world, [key], []), []);
  }),

  contractCase('snapshots() leaves out one whose digest is not that of its point', async (world) => {
    await kept(world);
    await world.store.putSnapshot(world.ref, snapshotAt(3));
    await world.store.putSnapshot(world.ref, snapshotAt(4));
    assert.deepEqual(await seqs(world, 9), [2, 1]);
  }),

  contractCase('snapshots() leaves out values that do not fit into one answer', async (world) => {
    const digests = await kept(world);
    const keys = ['x', 'y', 'z'].map((projection) => ({ ...key, projection }));
    const value = `"${'v'.repeat(snapshotValuesMax / 2 - 10)}"`;
    for (const { projection } of keys)
      await world.store.putSnapshot(world.ref, placed(digests, 3, { projection, value }));
    const lengths = (await found(world, keys, [['main', 3]])).map((held) => held.value?.length);
    assert.deepEqual(lengths, [value.length, value.length, undefined]);
  }),

  contractCase('snapshots() keeps projections, versions, upcasts, erasures and branches apart', async (world) => {
    await kept(world);
    for (const more of [{ projection: 'other' }, { version: '2' }, { upcasts: 3 }, { erasures: 1 }])
      assert.deepEqual(await seqs(world, 9, more), []);
    assert.deepEqual(await found(world, [key], [['child', 9]]), []);
    assert.deepEqual(await found(world, [key], [['nowhere', 9]]), []);
    const elsewhere = { ...world, ref: { ...world.ref, session: 'nowhere' } };
    assert.deepEqual(await found(elsewhere, [key], [['main', 9]]), []);
  }),
];

/** The guarantees of `snapshot`. */
export const snapshotCases: readonly ContractCase[] = [
  contractCase('snapshot() gives the one of a seq with its value, and undefined where there is none', async (world) => {
    const digests = await kept(world);
    assert.deepEqual(await world.store.snapshot(main(world), key, seq(2)), placed(digests, 2));
    assert.equal(await world.store.snapshot(main(world), key, seq(4)), undefined);
    assert.equal(await world.store.snapshot(main(world), { ...key, erasures: 1 }, seq(2)), undefined);
    assert.equal(await world.store.snapshot({ ...main(world), branch: 'nowhere' }, key, seq(2)), undefined);
  }),
];

/** The guarantees of `heldSnapshots`. */
export const heldSnapshotsCases: readonly ContractCase[] = [
  contractCase('heldSnapshots() pages through every snapshot of one branch by key and seq', async (world) => {
    const { store, ref } = world;
    const digests = await kept(world);
    await store.putSnapshot(ref, placed(digests, 1, { projection: 'a' }));
    await store.putSnapshot(ref, placed(digests, 1, { version: '2' }));
    await store.putSnapshot(ref, snapshotAt(2, { branch: 'child' }));
    const held: Omit<Snapshot, 'value'>[] = [];
    for (;;) {
      const page = await store.heldSnapshots(main(world), { limit: 2, ...given({ after: held.at(-1) }) });
      if (page.length === 0) break;
      held.push(...page);
    }
    const at = (place: number, more: Partial<Snapshot> = {}): Omit<Snapshot, 'value'> => {
      const { value: _, ...rest } = placed(digests, place, more);
      return rest;
    };
    const own = [1, 2, 3].map((place) => at(place));
    assert.deepEqual(held, [at(1, { projection: 'a' }), ...own, at(1, { version: '2' })]);
    assert.deepEqual(await store.heldSnapshots({ ...main(world), branch: 'nowhere' }, { limit: 9 }), []);
    assert.deepEqual(await store.heldSnapshots({ ...main(world), session: 'nowhere' }, { limit: 9 }), []);
  }),
];

/** The guarantees of `dropSnapshots`. */
export const dropSnapshotsCases: readonly ContractCase[] = [
  contractCase('dropSnapshots() deletes those of one session and nothing else', async (world) => {
    const { store, ref } = world;
    await kept(world);
    const other = { ...ref, session: 'other' };
    await store.createSession(other, { root: 'main', seed: 'x' });
    await store.putSnapshot(other, snapshotAt(1));
    const place = { ...other, branch: 'main' };
    await store.dropSnapshots(ref);
    assert.deepEqual(await seqs(world, 9), []);
    assert.equal((await store.heldSnapshots(place, { limit: 9 })).length, 1);
    assert.equal((await store.branch(main(world)))?.head, 3);
    await rejects(store.dropSnapshots({ ...ref, session: 'nowhere' }), 'session.not-found');
  }),
];
