import assert from 'node:assert/strict';
import { canonicalJson } from '../../core/canonical-json.ts';
import { ownedKey } from '../../core/event/keys.ts';
import { given } from '../../core/json.ts';
import { type Digest, seq } from '../../core/point.ts';
import type { AppendRequest, EraseRequest, EventInput, StoredEvent } from '../../core/store/event-store.ts';
import {
  append,
  type ContractCase,
  contractCase,
  fork,
  input,
  noDigest,
  note,
  point,
  readAll,
  refused,
  rejects,
  request,
  saltedPart,
  segment,
  sha256,
  someTime,
  textsOf,
  valuePart,
  type World,
} from './contract-case.ts';

const stateKey = (key: string) => ownedKey('state', 'default', key);
const written = (key: string) =>
  input(
    'state.committed',
    { operations: [{ agent: 'default', key, op: 'write', value: 'secret', version: 1 }] },
    { keys: [stateKey(key)] },
  );

const erased = (
  seqs: readonly number[],
  more: { readonly keys?: Record<string, readonly string[]>; readonly parts?: readonly string[] } = {},
): EventInput => input('payload.erased', { seqs, parts: more.parts ?? [], ...given({ keys: more.keys }) });

async function proofs(world: World, branch = 'main'): Promise<StoredEvent[]> {
  return await readAll(world, [segment(branch, 0, 99)], { select: 'proof' });
}

async function digestOf(event: StoredEvent | undefined): Promise<Digest> {
  return await sha256(`${event?.salt}${event?.data}`);
}

/** Erases events of `main` with one marker. */
async function eraseOnMain(
  world: World,
  seqs: readonly number[],
  more: Partial<EraseRequest> & { readonly marker?: EventInput } = {},
): Promise<void> {
  const held = await proofs(world);
  const events = await Promise.all(
    seqs.map(async (at) => ({ branch: 'main', seq: seq(at), dataDigest: await digestOf(held[at - 1]) })),
  );
  const appends: AppendRequest[] = [request(world.ref, [more.marker ?? erased(seqs)])];
  const outcome = await world.store.erase({ ...world.ref, events, parts: [], rewrites: [], appends, ...more });
  assert.deepEqual(outcome.remains, []);
  assert.ok(outcome.appends.every(({ ok }) => ok));
}

const payloads: readonly ContractCase[] = [
  contractCase('erase() forgets payload and salt, keeps the data digest, and appends the marker', async (world) => {
    await append(world, [note('a'), note('secret'), note('c')]);
    const before = await proofs(world);
    await eraseOnMain(world, [2]);
    const after = await proofs(world);
    assert.deepEqual(after[1], {
      ...before[1],
      data: null,
      salt: null,
      dataDigest: await digestOf(before[1]),
      erased: true,
    });
    assert.deepEqual([after[0], after[2]], [before[0], before[2]]);
    assert.deepEqual([after[3]?.type, after[3]?.seq], ['payload.erased', 4]);
    assert.deepEqual(textsOf([after[0] as StoredEvent, after[2] as StoredEvent]), ['a', 'c']);
    const [, header] = await readAll(world, [segment('main', 0, 3)], { select: 'header' });
    assert.equal(header?.erased, true);
    const record = await world.store.branch({ ...world.ref, branch: 'main' });
    assert.deepEqual(record?.markers, [{ branch: 'main', seq: 4, kind: 'erased', seqs: [2], parts: [] }]);
    assert.equal((await append(world, [note('d')])).events[0]?.seq, 5);
  }),

  contractCase('erase() on several branches is one write', async (world) => {
    await append(world, [note('secret')]);
    await fork(world, 'child', point('main', 1), [note('secret')]);
    const [main, child] = [await proofs(world), await proofs(world, 'child')];
    const events = [
      { branch: 'main', seq: seq(1), dataDigest: await digestOf(main[0]) },
      { branch: 'child', seq: seq(3), dataDigest: await digestOf(child[1]) },
    ];
    const appends = [request(world.ref, [erased([1])]), request(world.ref, [erased([3])], { branch: 'child' })];
    const outcome = await world.store.erase({ ...world.ref, events, parts: [], rewrites: [], appends });
    assert.deepEqual(
      outcome.appends.map((held) => held.ok && [held.branch, held.events[0]?.seq]),
      [
        ['main', 2],
        ['child', 4],
      ],
    );
    assert.deepEqual([(await proofs(world))[0]?.erased, (await proofs(world, 'child'))[1]?.erased], [true, true]);
  }),

  contractCase('erase() changes nothing at all if any of it is refused', async (world) => {
    await append(world, [note('a'), written('k')]);
    await append(world, [input('event.reverted', { seqs: [1], target: 1 })], {
      condition: { kind: 'head', seq: seq(2) },
    });
    const before = await proofs(world);
    const session = await world.store.session(world.ref);
    const attempt = (at: number, appends: readonly AppendRequest[]) =>
      world.store.erase({
        ...world.ref,
        events: [
          { branch: 'main', seq: seq(2), dataDigest: noDigest },
          { branch: 'main', seq: seq(at), dataDigest: noDigest },
        ],
        parts: [],
        rewrites: [],
        appends,
      });
    await rejects(attempt(3, [request(world.ref, [erased([2, 3])])]), 'event.structural');
    await rejects(attempt(9, [request(world.ref, [erased([2, 9])])]), 'event.not-found');
    const conflict = request(world.ref, [erased([2])], { condition: { kind: 'head', seq: seq(1) } });
    await rejects(attempt(2, [request(world.ref, [erased([2])]), conflict]), 'append.conflict');
    await rejects(
      world.store.erase({ ...world.ref, session: 'nowhere', events: [], parts: [], rewrites: [], appends: [] }),
      'session.not-found',
    );
    assert.deepEqual(await proofs(world), before);
    assert.deepEqual(await world.store.session(world.ref), session);
    assert.equal((await world.store.branch({ ...world.ref, branch: 'main' }))?.head, 3);
  }),

  contractCase('erase() deletes the session’s snapshots and counts the erasure', async (world) => {
    await append(world, [note('a')]);
    const key = { projection: 'p', version: '1', upcasts: 0, erasures: 0 };
    const { digest = noDigest } = (await world.store.branchHead({ ...world.ref, branch: 'main' })) ?? {};
    await world.store.putSnapshot(world.ref, {
      ...key,
      branch: 'main',
      seq: seq(1),
      digest,
      value: '"secret"',
    });
    const within = [{ branch: 'main', through: seq(9) }];
    assert.equal((await world.store.snapshots(world.ref, { keys: [key], within })).length, 1);
    await eraseOnMain(world, [1]);
    assert.deepEqual(await world.store.snapshots(world.ref, { keys: [key], within }), []);
    assert.equal((await world.store.session(world.ref))?.erasures, 1);
    assert.equal((await world.store.branches(world.ref))[0]?.bytes, (await proofs(world))[1]?.data?.length);
  }),

  contractCase('erase() under a count of erasures conflicts when there was another since', async (world) => {
    await append(world, [note('a'), note('b'), note('c')]);
    await eraseOnMain(world, [1], { erasures: 0 });
    const [before, session] = [await proofs(world), await world.store.session(world.ref)];
    assert.equal(session?.erasures, 1);
    for (const erasures of [0, 2]) await rejects(eraseOnMain(world, [2], { erasures }), 'append.conflict');
    assert.deepEqual([await proofs(world), await world.store.session(world.ref)], [before, session]);
    await eraseOnMain(world, [2], { erasures: 1 });
    await eraseOnMain(world, [3]);
    assert.equal((await world.store.session(world.ref))?.erasures, 3);
    assert.deepEqual(
      (await proofs(world)).map((event) => event.erased),
      [true, true, true, false, false, false],
    );
  }),

  contractCase('erase() takes the payload out of the branch’s bytes, far back too', async (world) => {
    await append(world, [note('x'.repeat(5_000)), ...Array.from({ length: 1_100 }, () => note(''))]);
    await append(world, [note('y')]);
    const [before] = await world.store.branches(world.ref);
    const [first] = await proofs(world);
    await eraseOnMain(world, [1]);
    const [after] = await world.store.branches(world.ref);
    const [marker] = await readAll(world, [segment('main', 1_102, 1_103)]);
    assert.equal(after?.bytes, (before?.bytes ?? 0) - (first?.data?.length ?? 0) + (marker?.data?.length ?? 0));
  }),

  contractCase(
    'erase() keeps the id of an event: nobody can tell a repeated append from a new event',
    async (world) => {
      const event = note('secret');
      await append(world, [event]);
      await eraseOnMain(world, [1]);
      await refused(world, 'event.erased', [event]);
      await refused(world, 'event.erased', [{ ...note('not the same'), id: event.id }]);
      assert.equal((await append(world, [note('new')])).known, false);
    },
  ),

  contractCase('erase() twice keeps the first data digest', async (world) => {
    await append(world, [note('secret')]);
    await eraseOnMain(world, [1]);
    const [first] = await proofs(world);
    await world.store.erase({
      ...world.ref,
      events: [{ branch: 'main', seq: seq(1), dataDigest: noDigest }],
      parts: [],
      rewrites: [],
      appends: [request(world.ref, [erased([1])])],
    });
    assert.deepEqual((await proofs(world))[0], first);
  }),
];

const keysAndParts: readonly ContractCase[] = [
  contractCase(
    'erase() keeps an event under the keys its marker names, and takes it out of the others',
    async (world) => {
      await append(world, [written('plan'), written('secret')]);
      await eraseOnMain(world, [1, 2], { marker: erased([1, 2], { keys: { 1: [stateKey('plan')] } }) });
      const { entries } = await world.store.latest(
        world.ref,
        [segment('main', 0, 2)],
        { prefix: '' },
        { limit: 10, select: 'full' },
      );
      assert.deepEqual(
        entries.map(({ key, event }) => [key, event.seq, event.data, event.erased]),
        [[stateKey('plan'), 1, null, true]],
      );
    },
  ),

  contractCase('erase() forgets parts of this session and leaves them to others who hold them', async (world) => {
    const { store, ref } = world;
    const other = { store, ref: { ...ref, session: 'other' } };
    await store.createSession(other.ref, { root: 'main', seed: 'x' });
    const [shared, own] = [await valuePart('{"shared":"secret"}'), await valuePart('{"own":"secret"}')];
    await append(world, [input('thing.kept', { held: { $part: shared.digest } })], { parts: [shared, own] });
    await append(other, [note('b')], { parts: [shared] });
    await eraseOnMain(world, [], {
      parts: [shared.digest, own.digest, noDigest],
      marker: erased([], { parts: [shared.digest, own.digest] }),
    });
    assert.deepEqual(await store.heldParts(ref, { limit: 9 }), []);
    assert.equal((await store.parts(other.ref, [shared.digest])).parts.get(shared.digest)?.text, shared.text);
    await append(world, [note('again')], { parts: [own] });
    assert.equal((await store.parts(ref, [own.digest])).parts.size, 1);
  }),

  contractCase(
    'erase() gives a part a new text under its old digest and remembers that it has a hole',
    async (world) => {
      const { store, ref } = world;
      const other = { store, ref: { ...ref, session: 'other' } };
      await store.createSession(other.ref, { root: 'main', seed: 'x' });
      const list = await saltedPart('list', '{"items":["secret",1],"previous":null}');
      const body = await saltedPart('body', 'one two');
      const delta = {
        ...(await saltedPart('body', 'one three')),
        kind: 'delta',
        text: `{"base":"${body.digest}","middle":"three","prefix":4,"suffix":0}`,
        refs: [body.digest],
      } as const;
      await append(world, [note('a')], { parts: [list, body, delta] });
      await append(other, [note('a')], { parts: [list] });
      const holed = {
        digest: list.digest,
        kind: 'list',
        salt: null,
        text: '{"items":[{"$erased":true},1],"previous":null}',
        refs: [],
        damaged: true,
      } as const;
      const whole = {
        digest: delta.digest,
        kind: 'body',
        salt: delta.salt,
        text: 'one three',
        refs: [],
        damaged: false,
      } as const;
      await eraseOnMain(world, [], {
        parts: [body.digest],
        rewrites: [holed, whole],
        marker: erased([], { parts: [body.digest, list.digest] }),
      });
      const { parts: found } = await store.parts(ref, [list.digest, delta.digest, body.digest]);
      assert.deepEqual(found.get(list.digest), holed);
      const { damaged: _, ...restored } = whole;
      assert.deepEqual(found.get(delta.digest), restored);
      assert.equal(found.size, 2);
      assert.deepEqual(
        (await store.parts(other.ref, [list.digest])).parts.get(list.digest),
        list,
        'the hole is for this session alone',
      );
      await store.deleteSession(ref);
      assert.deepEqual((await store.parts(other.ref, [list.digest])).parts.get(list.digest), list);
    },
  ),
];

/** The guarantees of `erase`. */
export const eraseCases: readonly ContractCase[] = [...payloads, ...keysAndParts];

/** The guarantees of `reindex`. */
export const reindexCases: readonly ContractCase[] = [
  contractCase(
    'reindex() makes the key index what the log says, erased events and carried ones included',
    async (world) => {
      const { store, ref } = world;
      const part = await saltedPart(
        'sealed',
        canonicalJson({ operations: [{ agent: 'default', key: 'carried', op: 'write', value: 1, version: 1 }] }),
      );
      const replaced = input(
        'event.replaced',
        {
          seq: 1,
          event: { type: 'state.committed', version: 1, time: someTime, turn: 0, data: { $sealed: part.digest } },
        },
        { keys: ['wrong'] },
      );
      await append(world, [
        { ...written('plan'), keys: [] },
        { ...written('a'), keys: ['wrong', stateKey('a')] },
        written('gone'),
        ...Array.from({ length: 1_500 }, (_, index) => ({ ...written(`k${index}`), keys: [] })),
      ]);
      await append(world, [replaced], { parts: [part], condition: { kind: 'head', seq: seq(1_503) } });
      await eraseOnMain(world, [3], { marker: erased([3], { keys: { 3: [stateKey('kept')] } }) });
      const faults = await store.reindex(ref, { dryRun: true });
      assert.deepEqual(await store.reindex(ref, { dryRun: true }), faults, 'a dry run changes nothing');
      // Missing: plan, carried, 1,500 others. Wrong: two under "wrong". A store that makes the keys itself has no fault.
      const [first] = faults.faults;
      const found = [faults.count, faults.faults.length, first?.kind, first?.seq];
      assert.deepEqual(found, faults.count === 0 ? [0, 0, undefined, undefined] : [1_504, 100, 'key', 1]);
      assert.deepEqual(await store.reindex(ref), faults);
      assert.deepEqual(await store.reindex(ref, { dryRun: true }), { count: 0, faults: [] });
      const view = [segment('main', 0, 1_504)];
      const keys = ['wrong', ...['plan', 'a', 'gone', 'kept', 'carried', 'k0', 'k1499'].map(stateKey)];
      const { entries } = await store.latest(ref, view, { keys }, { limit: 100, select: 'header' });
      assert.deepEqual(
        entries.map(({ key, event }) => [key, event.seq]).sort(),
        [
          [stateKey('a'), 2],
          [stateKey('carried'), 1_504],
          [stateKey('k0'), 4],
          [stateKey('k1499'), 1_503],
          [stateKey('kept'), 3],
          [stateKey('plan'), 1],
        ].sort(),
      );
      await rejects(store.reindex({ ...ref, session: 'nowhere' }), 'session.not-found');
    },
  ),
];
