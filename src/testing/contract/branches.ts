import assert from 'node:assert/strict';
import type { PartInput } from '../../core/parts/parts.ts';
import type { Digest } from '../../core/point.ts';
import {
  append,
  type ContractCase,
  contractCase,
  fork,
  input,
  note,
  point,
  refused,
  request,
  saltedPart,
  valuePart,
  type World,
} from './contract-case.ts';

/** Returns the bytes that each branch of the session stores. */
async function bytesByBranch({ store, ref }: World): Promise<Record<string, number>> {
  return Object.fromEntries((await store.branches(ref)).map(({ branch, bytes }) => [branch, bytes]));
}

/** An erasure of parts alone, whose marker goes to `main`. */
async function eraseParts(
  { store, ref }: World,
  parts: readonly Digest[],
  rewrites: readonly PartInput[] = [],
): Promise<number> {
  const marker = input('payload.erased', { seqs: [], parts: [...parts] });
  await store.erase({ ...ref, events: [], parts, rewrites, appends: [request(ref, [marker])] });
  return marker.data.length;
}

/** Forks `child` at `main@1`, bringing parts; gives the event it begins with. */
async function forkedNow(world: World, parts: readonly PartInput[]): Promise<{ readonly data: string }> {
  const event = input('branch.forked', { parent: { digest: '', seq: 1 } });
  await append(world, [event], { parts, target: { kind: 'fork', branch: 'child', parent: point('main', 1) } });
  return event;
}

/** Returns a body, and a second one both whole and as a delta of the first. */
async function bodies(): Promise<Record<'base' | 'whole' | 'delta', PartInput>> {
  const text = 'one two three four '.repeat(50);
  const [base, whole] = [await saltedPart('body', `${text}five`), await saltedPart('body', `${text}six`)];
  const changed = JSON.stringify({ base: base.digest, middle: 'six', prefix: text.length, suffix: 0 });
  return { base, whole, delta: { ...whole, kind: 'delta', text: changed, refs: [base.digest] } };
}

/** The guarantees of `branches`. */
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

  contractCase('branches() counts a part where it came to the session first, and only there', async (world) => {
    const [small, large] = [await valuePart('{"content":"ü"}'), await valuePart(`{"content":"${'x'.repeat(9_000)}"}`)];
    const [main, twin] = [note('a'), note('b')];
    await append(world, [main], { parts: [small, small] });
    assert.deepEqual(await bytesByBranch(world), { main: main.data.length + small.text.length + 1 });
    await append(world, [twin], { parts: [small] });
    const own = main.data.length + twin.data.length + small.text.length + 1;
    assert.deepEqual(await bytesByBranch(world), { main: own });
    const { data } = await forkedNow(world, [large, small]);
    assert.deepEqual(await bytesByBranch(world), { main: own, child: data.length + large.text.length });
    await refused(world, 'event.not-found', [note('c', { cause: 'nowhere' })], { parts: [await valuePart('{"n":1}')] });
    assert.deepEqual(await bytesByBranch(world), { main: own, child: data.length + large.text.length });
  }),

  contractCase(
    'branches() counts parts for each session that got them, no matter which others hold them',
    async (world) => {
      const other = { store: world.store, ref: { ...world.ref, session: 'other' } };
      await world.store.createSession(other.ref, { root: 'main', seed: 'x' });
      const { base, whole, delta } = await bodies();
      const event = note('a');
      await append(world, [event], { parts: [base, delta] });
      await append(other, [note('b')], { parts: [whole] });
      const given = event.data.length + base.text.length + delta.text.length;
      assert.deepEqual(await bytesByBranch(world), { main: given });
      assert.deepEqual(await bytesByBranch(other), { main: event.data.length + whole.text.length });
      await world.store.deleteSession(other.ref);
      assert.deepEqual(await bytesByBranch(world), { main: given });
    },
  ),

  contractCase('branches() counts what an erasure leaves: no forgotten part, a rewritten one anew', async (world) => {
    const { base, whole, delta } = await bodies();
    const event = note('a');
    await append(world, [event], { parts: [base] });
    const { data } = await forkedNow(world, [delta]);
    const marker = await eraseParts(world, [base.digest], [{ ...whole, damaged: false }]);
    assert.deepEqual(await bytesByBranch(world), {
      main: event.data.length + marker,
      child: data.length + whole.text.length,
    });
    const second = await eraseParts(world, [whole.digest]);
    assert.deepEqual(await bytesByBranch(world), { main: event.data.length + marker + second, child: data.length });
    const again = note('again');
    await append(world, [again], { branch: 'child', parts: [base] });
    assert.deepEqual(await bytesByBranch(world), {
      main: event.data.length + marker + second,
      child: data.length + again.data.length + base.text.length,
    });
  }),

  contractCase('branches() is empty for a session that does not exist', async ({ store, ref }) => {
    assert.deepEqual(await store.branches({ ...ref, session: 'nowhere' }), []);
    assert.equal((await store.branches(ref)).length, 1);
  }),
];
