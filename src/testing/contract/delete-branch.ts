import assert from 'node:assert/strict';
import type { Digest, Point } from '../../core/point.ts';
import { seq } from '../../core/point.ts';
import type { DeleteBranchRequest } from '../../core/store/event-store.ts';
import {
  append,
  type ContractCase,
  contractCase,
  input,
  noDigest,
  note,
  rejects,
  request,
  valuePart,
  type World,
} from './contract-case.ts';

/** Forks a branch at a seq of `main` and adds a note to it. */
async function forked(world: World, branch: string, parent: Point, text = branch): Promise<void> {
  const fork = input('branch.forked', { parent: { seq: parent.seq, digest: noDigest } });
  await append(world, [fork, note(text)], { target: { kind: 'fork', branch, parent } });
}

const at = (branch: string, value: number): Point => ({ branch, seq: seq(value) });

/** The request that deletes a branch, as the engine makes it. */
async function deletion(
  { store, ref }: World,
  branch: string,
  parts: readonly Digest[] = [],
): Promise<DeleteBranchRequest> {
  const heads = await store.branches(ref);
  const said = input('metadata.changed', { set: { deleted: branch } });
  return { ...ref, branch, parts, heads, append: request(ref, [said]) };
}

/** The guarantees of `deleteBranch`. */
export const deleteBranchCases: readonly ContractCase[] = [
  contractCase('deleteBranch() leaves nothing of the branch, records it, and the name is free', async (world) => {
    const { store, ref } = world;
    await append(world, [note('a')]);
    await forked(world, 'x', at('main', 1));
    await forked(world, 'y', at('main', 1));
    const wanted = await deletion(world, 'x');
    const outcome = await store.deleteBranch(wanted);
    assert.deepEqual([outcome.ok, outcome.ok && outcome.events[0]?.seq], [true, 2]);
    assert.deepEqual(
      (await store.branches(ref)).map(({ branch, head }) => [branch, head]),
      [
        ['main', 2],
        ['y', 3],
      ],
    );
    assert.equal(await store.branch({ ...ref, branch: 'x' }), undefined);
    assert.equal(await store.branchHead({ ...ref, branch: 'x' }), undefined);
    await rejects(store.deleteBranch(await deletion(world, 'x')), 'branch.not-found');
    await forked(world, 'x', at('main', 2), 'again');
    assert.equal((await store.branchHead({ ...ref, branch: 'x' }))?.head, 4);
    const record = await store.branch({ ...ref, branch: 'x' });
    assert.deepEqual(
      record?.markers.map((marker) => [marker.kind, marker.seq]),
      [['forked', 3]],
      'nothing of the first branch of that name is left',
    );
  }),

  contractCase('deleteBranch() forgets the ids of its events', async (world) => {
    const { store, ref } = world;
    await append(world, [note('a')]);
    const said = note('b');
    const fork = input('branch.forked', { parent: { seq: 1, digest: noDigest } });
    await append(world, [fork, said], { target: { kind: 'fork', branch: 'x', parent: at('main', 1) } });
    await store.deleteBranch(await deletion(world, 'x'));
    assert.equal((await store.locate(ref, [said.id, fork.id])).size, 0);
    assert.equal((await append(world, [said])).known, false);
  }),

  contractCase('deleteBranch() refuses a branch that others grow from, and the first one', async (world) => {
    const { store, ref } = world;
    await append(world, [note('a')]);
    await forked(world, 'x', at('main', 1));
    await forked(world, 'y', at('x', 3));
    for (const branch of ['x', 'main'])
      await rejects(store.deleteBranch(await deletion(world, branch)), 'branch.in-use');
    await rejects(store.deleteBranch({ ...(await deletion(world, 'x')), session: 'nowhere' }), 'session.not-found');
    assert.equal((await store.branches(ref)).length, 3);
    assert.equal((await store.branchHead({ ...ref, branch: 'main' }))?.head, 1, 'nothing was recorded');
  }),

  contractCase('deleteBranch() refuses if anything was appended since the caller looked', async (world) => {
    const { store, ref } = world;
    await append(world, [note('a')]);
    await forked(world, 'x', at('main', 1));
    const wanted = await deletion(world, 'x');
    await append(world, [note('b')]);
    await rejects(store.deleteBranch(wanted), 'append.conflict');
    const again = await deletion(world, 'x');
    await forked(world, 'z', at('main', 1));
    await rejects(store.deleteBranch(again), 'append.conflict');
    assert.equal((await store.branches(ref)).length, 3);
  }),

  contractCase(
    'deleteBranch() lets go of the parts it is given, and counts the others for the first branch',
    async (world) => {
      const { store, ref } = world;
      const [own, shared] = [
        await valuePart(`{"content":"${'o'.repeat(600)}"}`),
        await valuePart(`{"content":"${'s'.repeat(600)}"}`),
      ];
      await append(world, [note('a')]);
      const fork = input('branch.forked', { parent: { seq: 1, digest: noDigest } });
      await append(world, [fork], {
        target: { kind: 'fork', branch: 'x', parent: at('main', 1) },
        parts: [own, shared],
      });
      const [before] = await store.branches(ref);
      const wanted = await deletion(world, 'x', [own.digest]);
      await store.deleteBranch(wanted);
      const { parts } = await store.parts(ref, [own.digest, shared.digest]);
      assert.deepEqual([...parts.keys()], [shared.digest]);
      const said = wanted.append.events[0]?.data.length ?? 0;
      const [main] = await store.branches(ref);
      assert.equal(main?.bytes, (before?.bytes ?? 0) + shared.text.length + said);
      assert.deepEqual(await store.heldParts(ref, { limit: 10 }), [shared.digest]);
    },
  ),

  contractCase(
    'deleteBranch() drops the snapshots and receipts of the branch, and leaves those of others',
    async (world) => {
      const { store, ref } = world;
      await append(world, [note('a')]);
      await forked(world, 'x', at('main', 1));
      const key = { projection: 'p', version: '1', upcasts: 0, erasures: 0 };
      const heads = new Map((await store.branches(ref)).map(({ branch, digest }) => [branch, digest]));
      for (const [branch, place] of [
        ['main', 1],
        ['x', 3],
      ] as const) {
        const digest = heads.get(branch) ?? noDigest;
        await store.putSnapshot(ref, { ...key, branch, seq: seq(place), digest, value: '1' });
        await store.putReceipt(ref, { digest, kind: 'export', createdAt: '', body: {} });
      }
      await store.deleteBranch(await deletion(world, 'x'));
      assert.equal((await store.heldSnapshots({ ...ref, branch: 'main' }, { limit: 9 })).length, 1);
      assert.equal((await store.receipts(ref, heads.get('main') ?? noDigest)).length, 1);
      assert.equal((await store.receipts(ref, heads.get('x') ?? noDigest)).length, 0);
      await forked(world, 'x', at('main', 1), 'another');
      assert.equal((await store.heldSnapshots({ ...ref, branch: 'x' }, { limit: 9 })).length, 0);
    },
  ),
];
