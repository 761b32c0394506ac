import assert from 'node:assert/strict';
import { seq } from '../../core/point.ts';
import { append, type ContractCase, contractCase, input, noDigest, note, valuePart } from './contract-case.ts';

/** The guarantees of `sessionSize`. */
export const sessionSizeCases: readonly ContractCase[] = [
  contractCase('sessionSize() counts events, parts and snapshots, in bytes of UTF-8', async (world) => {
    const { store, ref } = world;
    const empty = { events: 0, eventBytes: 0, partBytes: 0, snapshots: 0, snapshotBytes: 0 };
    assert.deepEqual(await store.sessionSize(ref), { branches: 1, ...empty });
    const part = await valuePart('{"content":"ü"}');
    const said = note('ü');
    await append(world, [said], { parts: [part, part] });
    const fork = input('branch.forked', { parent: { seq: 1, digest: noDigest } });
    const parent = { branch: 'main', seq: seq(1) };
    await append(world, [fork], { target: { kind: 'fork', branch: 'x', parent }, parts: [part] });
    const [head] = await store.branches(ref);
    const key = { projection: 'p', version: '1', upcasts: 0, erasures: 0 };
    await store.putSnapshot(ref, {
      ...key,
      branch: 'main',
      seq: seq(1),
      digest: head?.digest ?? noDigest,
      value: '"é"',
    });
    assert.deepEqual(await store.sessionSize(ref), {
      branches: 2,
      events: 2,
      eventBytes: said.data.length + 1 + fork.data.length,
      partBytes: part.text.length + 1,
      snapshots: 1,
      snapshotBytes: 4,
    });
    assert.equal(await store.sessionSize({ ...ref, session: 'nowhere' }), undefined);
    assert.equal(await store.sessionSize({ ...ref, namespace: 'nowhere' }), undefined);
  }),
];
