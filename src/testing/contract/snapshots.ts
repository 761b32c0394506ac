import assert from 'node:assert/strict';
import { given } from '../../core/json.ts';
import { type Seq, seq } from '../../core/point.ts';
import type { Snapshot, SnapshotKey } from '../../core/store/event-store.ts';
import {
  append,
  type ContractCase,
  contractCase,
  fork,
  noDigest,
  note,
  point,
  rejects,
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

async function kept(world: World): Promise<void> {
  await append(world, [note('a')]);
  await fork(world, 'child', point('main', 1));
  for (const at of [3, 1, 2]) await world.store.putSnapshot(world.ref, snapshotAt(at));
}

const main = (world: World) => ({ ...world.ref, branch: 'main' });
const seqs = async (world: World, through: number, more: Partial<SnapshotKey> = {}): Promise<Seq[]> =>
  (await world.store.snapshots(main(world), { ...key, ...more }, seq(through))).map((held) => held.seq);

/** The guarantees of `putSnapshot`. */
export const putSnapshotCases: readonly ContractCase[] = [
  contractCase('putSnapshot() replaces the snapshot of the same place', async (world) => {
    await kept(world);
    await world.store.putSnapshot(world.ref, snapshotAt(2, { value: '{"new":true}' }));
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
  contractCase('snapshots() lists those at or before a seq, nearest first, without their values', async (world) => {
    await kept(world);
    assert.deepEqual(await seqs(world, 9), [3, 2, 1]);
    assert.deepEqual(await seqs(world, 2), [2, 1]);
    assert.deepEqual(await seqs(world, 0), []);
    const { value: _, ...place } = snapshotAt(1);
    assert.deepEqual(await world.store.snapshots(main(world), key, seq(1)), [place]);
  }),

  contractCase('snapshots() keeps projections, versions, upcasts, erasures and branches apart', async (world) => {
    await kept(world);
    for (const more of [{ projection: 'other' }, { version: '2' }, { upcasts: 3 }, { erasures: 1 }])
      assert.deepEqual(await seqs(world, 9, more), []);
    assert.deepEqual(await world.store.snapshots({ ...world.ref, branch: 'child' }, key, seq(9)), []);
    assert.deepEqual(await world.store.snapshots({ ...main(world), session: 'nowhere' }, key, seq(9)), []);
  }),
];

/** The guarantees of `snapshot`. */
export const snapshotCases: readonly ContractCase[] = [
  contractCase('snapshot() gives the one of a seq with its value, and undefined where there is none', async (world) => {
    await kept(world);
    assert.deepEqual(await world.store.snapshot(main(world), key, seq(2)), snapshotAt(2));
    assert.equal(await world.store.snapshot(main(world), key, seq(4)), undefined);
    assert.equal(await world.store.snapshot(main(world), { ...key, erasures: 1 }, seq(2)), undefined);
    assert.equal(await world.store.snapshot({ ...main(world), branch: 'nowhere' }, key, seq(2)), undefined);
  }),
];

/** The guarantees of `heldSnapshots`. */
export const heldSnapshotsCases: readonly ContractCase[] = [
  contractCase('heldSnapshots() pages through every snapshot of one branch by key and seq', async (world) => {
    const { store, ref } = world;
    await kept(world);
    await store.putSnapshot(ref, snapshotAt(1, { projection: 'a' }));
    await store.putSnapshot(ref, snapshotAt(1, { version: '2' }));
    await store.putSnapshot(ref, snapshotAt(2, { branch: 'child' }));
    const found: Omit<Snapshot, 'value'>[] = [];
    for (;;) {
      const page = await store.heldSnapshots(main(world), { limit: 2, ...given({ after: found.at(-1) }) });
      if (page.length === 0) break;
      found.push(...page);
    }
    const { value: _, ...place } = snapshotAt(1);
    assert.deepEqual(found, [
      { ...place, projection: 'a' },
      ...[1, 2, 3].map((at) => ({ ...place, seq: seq(at) })),
      { ...place, version: '2' },
    ]);
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
    await store.dropSnapshots(ref);
    assert.deepEqual(await seqs(world, 9), []);
    assert.equal((await store.snapshots({ ...other, branch: 'main' }, key, seq(9))).length, 1);
    assert.equal((await store.branch(main(world)))?.head, 1);
    await rejects(store.dropSnapshots({ ...ref, session: 'nowhere' }), 'session.not-found');
  }),
];
