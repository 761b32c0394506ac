import assert from 'node:assert/strict';
import { type Digest, type Seq, seq } from '../../core/point.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';
import type { RestoredEvent, RestoreOutcome, RestoreRequest } from '../../core/store/restore-request.ts';
import {
  append,
  type ContractCase,
  contractCase,
  fork,
  input,
  keyed,
  keyOf,
  noDigest,
  note,
  point,
  readAll,
  refused,
  rejects,
  request,
  saltedPart,
  segment,
  seqsOf,
  sha256,
  someTime,
  valuePart,
  type World,
} from './contract-case.ts';

/** Creates a second session in a different namespace, like the first. */
async function madeAgain({ store, ref }: World): Promise<World> {
  const other = { namespace: 'elsewhere', session: 'again' };
  const record = await store.session(ref);
  assert.ok(record !== undefined);
  const { root, seed, createdAt, erasures } = record;
  await store.createSession(other, { root, seed, createdAt, erasures });
  return { store, ref: other };
}

async function proofs(world: World, branch = 'main'): Promise<Required<StoredEvent>[]> {
  return (await readAll(world, [segment(branch, 0, 9_999)], { select: 'proof' })) as Required<StoredEvent>[];
}

const restored = (
  event: Required<StoredEvent> | undefined,
  keys: readonly string[] = [],
  change: Partial<RestoredEvent> = {},
): RestoredEvent => {
  const { branch: _, ...rest } = event as Required<StoredEvent>;
  return { ...rest, keys, ...change };
};

type Restore = Partial<Omit<RestoreRequest, 'events'>>;

function restore({ store, ref }: World, events: readonly RestoredEvent[], more: Restore = {}): Promise<RestoreOutcome> {
  return store.restore({ ...ref, branch: 'main', events, parts: [], ...more });
}

const written: readonly ContractCase[] = [
  contractCase('restore() writes events exactly as another session has them', async (world) => {
    const first = note('a', { agent: 'x', run: 'r', turn: 3, time: '2020-01-01T00:00:00.000Z' });
    await append(world, [first, note('b', { cause: first.id }), note('🙂 \u0000 "ä"')]);
    const again = await madeAgain(world);
    const held = await proofs(world);
    const outcome = await restore(
      again,
      held.map((event) => restored(event)),
    );
    assert.deepEqual(outcome, { head: 3, digest: held[2]?.digest });
    assert.deepEqual(await proofs(again), held);
    const [left, right] = [
      await world.store.branch({ ...world.ref, branch: 'main' }),
      await world.store.branch({ ...again.ref, branch: 'main' }),
    ];
    assert.deepEqual(right, left);
    assert.deepEqual(await world.store.branches(again.ref), await world.store.branches(world.ref));
    assert.deepEqual(await world.store.session(again.ref), { ...(await world.store.session(world.ref)), ...again.ref });
  }),

  contractCase(
    'restore() changes nothing when it is repeated, and goes on where a longer batch does',
    async (world) => {
      await append(world, [note('a'), note('b'), note('c'), note('d')]);
      const again = await madeAgain(world);
      const events = (await proofs(world)).map((event) => restored(event));
      await restore(again, events.slice(0, 2));
      for (const batch of [events.slice(0, 2), events.slice(0, 1), events.slice(1, 4), events])
        await restore(again, batch);
      assert.deepEqual(await proofs(again), await proofs(world));
      const third = await madeOnce(world);
      await Promise.all(Array.from({ length: 5 }, () => restore(third, events)));
      assert.deepEqual(await proofs(third), await proofs(world));
    },
  ),

  contractCase('restore() goes by the clocks of what it wrote, and so do the appends after it', async (world) => {
    const many = (count: number, day: number) =>
      Array.from({ length: count }, () => note('', { time: `2026-01-0${day}T00:00:00.000Z`, turn: day }));
    await append(world, [...many(2, 9), ...many(1_500, 3)]);
    const again = await madeAgain(world);
    const events = (await proofs(world)).map((event) => restored(event));
    for (let from = 0; from < events.length; from += 700) await restore(again, events.slice(from, from + 700));
    await append(again, [...many(1_200, 4), ...many(2, 8)]);
    for (const filter of [{ since: '2026-01-07' }, { turnAfter: 6 }]) {
      const found = await readAll(again, [segment('main', 0, 9_999)], { filter, select: 'header' });
      assert.deepEqual(seqsOf(found), [1, 2, 2_703, 2_704]);
    }
  }),

  contractCase('restore() is followed by appends as the original would have been', async (world) => {
    await append(world, [note('a', { turn: 1 }), note('b', { turn: 2 }), keyed(['k'], { turn: 3 })]);
    await append(world, [input('branch.rewound', { to: 2 })], { condition: { kind: 'head', seq: seq(3) } });
    const again = await madeAgain(world);
    const held = await proofs(world);
    await restore(
      again,
      held.map((event) => restored(event, event.seq === 3 ? [keyOf('k')] : [])),
    );
    const record = await again.store.branch({ ...again.ref, branch: 'main' });
    assert.deepEqual([record?.epoch, record?.turn, record?.markers.length], [4, 2, 1]);
    await refused(again, 'branch.rewound', [note('x')], { epoch: seq(0) });
    await refused(again, 'state.conflict', [note('x')], {
      condition: { kind: 'unchanged', since: seq(2), keys: [keyOf('k')], prefixes: [] },
    });
    const known = await append(again, [
      input('note.added', { text: 'a' }, { id: held[0]?.id ?? '', time: someTime, turn: 1 }),
    ]);
    assert.deepEqual([known.known, known.events[0]?.seq], [true, 1], 'a retried append is still recognised');
    const next = await append(again, [note('d', { cause: held[1]?.id ?? '' })]);
    assert.deepEqual(
      next.events.map(({ seq: at, turn, causeSeq }) => [at, turn, causeSeq]),
      [[5, 2, 2]],
    );
  }),

  contractCase('restore() makes a branch with its first batch, and one of that too', async (world) => {
    await append(world, [note('a'), note('b')]);
    await fork(world, 'child', point('main', 1), [note('c')]);
    await fork(world, 'grandchild', point('child', 2), [note('d')]);
    const again = await madeAgain(world);
    const all = async (branch: string) => (await proofs(world, branch)).map((event) => restored(event));
    const child = { branch: 'child', parent: point('main', 1) };
    await rejects(restore(again, await all('child'), child), 'point.out-of-range');
    await rejects(restore(again, await all('child'), { branch: 'child' }), 'branch.not-found');
    await restore(again, await all('main'));
    await restore(again, (await all('child')).slice(0, 1), child);
    await restore(again, await all('child'), child);
    await restore(again, await all('grandchild'), { branch: 'grandchild', parent: point('child', 2) });
    for (const branch of ['main', 'child', 'grandchild']) {
      assert.deepEqual(await proofs(again, branch), await proofs(world, branch));
      const record = await world.store.branch({ ...world.ref, branch });
      const other = await world.store.branch({ ...again.ref, branch });
      assert.deepEqual({ ...other, createdAt: '' }, { ...record, createdAt: '' });
    }
  }),

  contractCase('restore() puts events under their keys', async (world) => {
    await append(world, [keyed(['k']), keyed(['k', 'l'])]);
    const again = await madeAgain(world);
    const [a, b] = await proofs(world);
    await restore(again, [restored(a, [keyOf('k')]), restored(b, ['k', 'l'].map(keyOf))]);
    const latest = async ({ store, ref }: World) =>
      (await store.latest(ref, [segment('main', 0, 9)], { prefix: '' }, { limit: 9, select: 'full' })).entries;
    assert.deepEqual(await latest(again), await latest(world));
  }),
];

async function madeOnce({ store, ref }: World): Promise<World> {
  const other = { namespace: 'third', session: 'once' };
  await store.createSession(other, { root: 'main', seed: (await store.session(ref))?.seed ?? '' });
  return { store, ref: other };
}

const changes: readonly Partial<RestoredEvent>[] = [
  { id: 'other' },
  { time: '2000-01-01T00:00:00.000Z' },
  { type: 'note.changed' },
  { version: 2 },
  { agent: 'other' },
  { run: 'other' },
  { turn: 9 },
  { cause: 'other' },
  { data: '{"text":"other"}' },
  { data: null },
  { salt: 'other' },
  { salt: null },
  { digest: noDigest },
  { erased: true },
  { data: null, salt: null, dataDigest: noDigest, erased: true },
];

const refusals: readonly ContractCase[] = [
  contractCase('restore() refuses an event that is not what its digest says, and writes nothing', async (world) => {
    await append(world, [note('a'), note('b')]);
    const again = await madeAgain(world);
    const [a, b] = await proofs(world);
    for (const change of changes)
      await rejects(restore(again, [restored(a), restored(b, [], change)]), 'event.damaged');
    await rejects(restore(again, [restored(a), restored(b), restored(b)]), 'event.damaged');
    assert.deepEqual(await proofs(again), []);
    assert.equal((await restore(again, [restored(a), restored(b)])).head, 2);
  }),

  contractCase('restore() refuses what does not follow on what the branch holds', async (world) => {
    await append(world, [note('a'), note('b'), note('c')]);
    const again = await madeAgain(world);
    const [a, b, c] = await proofs(world);
    await rejects(restore(again, [restored(b)]), 'append.conflict');
    await restore(again, [restored(a)]);
    await rejects(restore(again, [restored(c)]), 'append.conflict');
    await append(again, [note('its own')]);
    await rejects(restore(again, [restored(b)]), 'append.conflict');
    await rejects(restore(again, [restored(b), restored(c)]), 'append.conflict');
    await rejects(restore({ ...again, ref: { ...again.ref, session: 'nowhere' } }, [restored(a)]), 'session.not-found');
    assert.equal((await proofs(again)).length, 2);
  }),

  contractCase('restore() refuses an id that stands elsewhere in the session', async (world) => {
    await append(world, [note('a'), note('b')]);
    await fork(world, 'child', point('main', 1), [note('c')]);
    const again = await madeAgain(world);
    await restore(
      again,
      (await proofs(world)).map((event) => restored(event)),
    );
    const [forked, own] = await proofs(world, 'child');
    const id = (await proofs(world))[1]?.id ?? '';
    const link = [forked?.digest, own?.seq, id, own?.type, own?.version, own?.time, null, null, own?.turn, null];
    const digest = await sha256(JSON.stringify([...link, await sha256(`${own?.salt}${own?.data}`)]));
    const batch = [restored(forked), restored(own, [], { id, digest })];
    await rejects(restore(again, batch, { branch: 'child', parent: point('main', 1) }), 'event.id-reused');
    assert.equal(await world.store.branch({ ...again.ref, branch: 'child' }), undefined);
  }),

  contractCase('restore() lets a branch be forked by its first event only', async (world) => {
    await append(world, [note('a')]);
    await fork(world, 'child', point('main', 1), [note('b')]);
    const again = await madeAgain(world);
    const [[a], [forked, own]] = [await proofs(world), await proofs(world, 'child')];
    await restore(again, [restored(a)]);
    await rejects(restore(again, [restored(forked)]), 'event.damaged');
    await rejects(restore(again, [restored(own)], { branch: 'child', parent: point('main', 1) }), 'edit.invalid');
    await rejects(restore(again, [], { branch: 'child', parent: point('main', 1) }), 'edit.invalid');
  }),
];

/** Erases the second event of `main`, whose list gets a hole and whose value goes. */
async function eraseSecond(world: World, parts: { readonly list: Digest; readonly value: Digest }): Promise<void> {
  const held = (await proofs(world))[1];
  const hole = {
    digest: parts.list,
    kind: 'list' as const,
    salt: 'new',
    text: '{"items":[],"previous":null}',
    refs: [],
  };
  const data = { seqs: [2], parts: [parts.list, parts.value], keys: { 2: ['left'] } };
  await world.store.erase({
    ...world.ref,
    events: [{ branch: 'main', seq: seq(2), dataDigest: await sha256(`${held?.salt}${held?.data}`) }],
    parts: [parts.value],
    rewrites: [{ ...hole, damaged: true }],
    appends: [request(world.ref, [input('payload.erased', data)])],
  });
}

const erasures: readonly ContractCase[] = [
  contractCase('restore() keeps what was erased erased, with its digests and its keys', async (world) => {
    const value = await valuePart('{"a":"secret"}');
    const list = await saltedPart('list', `{"items":[{"$part":"${value.digest}"}],"previous":null}`, [value.digest]);
    const second = input('thing.kept', { held: { $list: list.digest } }, { keys: ['left', 'gone'] });
    await append(world, [note('a'), second], { parts: [value, list] });
    await eraseSecond(world, { list: list.digest, value: value.digest });
    const again = await madeAgain(world);
    // Another session of the namespace has the same list, whole.
    const whole = { store: world.store, ref: { ...again.ref, session: 'whole' } };
    await world.store.createSession(whole.ref, { root: 'main', seed: 'x' });
    await append(whole, [input('thing.kept', { held: { $list: list.digest } })], { parts: [value, list] });
    const hole = (await world.store.parts(world.ref, [list.digest])).parts.get(list.digest);
    assert.equal(hole?.damaged, true);
    await restore(
      again,
      (await proofs(world)).map((event) => restored(event, event.seq === 2 ? ['left'] : [])),
      { parts: [hole] },
    );
    assert.deepEqual(await proofs(again), await proofs(world));
    assert.deepEqual((await world.store.parts(again.ref, [list.digest])).parts.get(list.digest), hole);
    assert.equal((await world.store.parts(whole.ref, [list.digest])).parts.get(list.digest)?.text, list.text);
    const keys = await world.store.latest(
      again.ref,
      [segment('main', 0, 9)],
      { prefix: '' },
      { limit: 9, select: 'full' },
    );
    assert.deepEqual(
      keys.entries.map(({ key, event }) => [key, event.seq, event.erased]),
      [['left', 2, true]],
    );
    await refused(again, 'part.missing', [input('thing.kept', { held: { $list: list.digest } })]);
    const { erasures: count } = (await world.store.session(again.ref)) ?? {};
    assert.equal(count, 1, 'what comes from elsewhere was erased as often');
    assert.deepEqual(bytesOf(await world.store.branches(again.ref)), bytesOf(await world.store.branches(world.ref)));
  }),

  contractCase('restore() holds parts, also ahead of the events that refer to them', async (world) => {
    const [one, two] = [await valuePart('{"one":1}'), await valuePart('{"two":2}')];
    await append(world, [note('a'), input('thing.kept', { held: { $part: one.digest } })], { parts: [one, two] });
    const again = await madeAgain(world);
    const events = (await proofs(world)).map((event) => restored(event));
    await rejects(restore(again, events, { parts: [{ ...one, text: '{"one":2}' }] }), 'part.damaged');
    assert.deepEqual(await restore(again, [], { parts: [two] }), {
      head: 0,
      digest: (await world.store.session(world.ref))?.genesis,
    });
    await restore(again, events, { parts: [one] });
    await restore(again, events, { parts: [one, two] });
    assert.deepEqual(await world.store.heldParts(again.ref, { limit: 9 }), [one.digest, two.digest].sort());
    assert.deepEqual(bytesOf(await world.store.branches(again.ref)), bytesOf(await world.store.branches(world.ref)));
  }),
];

const bytesOf = (branches: readonly { readonly branch: string; readonly bytes: number }[]): unknown[] =>
  branches.map(({ branch, bytes }) => [branch, bytes]);

const seen: readonly ContractCase[] = [
  contractCase('restore() wakes watchers, and makes the session the one appended to last', async (world) => {
    await append(world, [note('a')]);
    const again = await madeAgain(world);
    await append(world, [note('b')]);
    const [a] = await proofs(world);
    const controller = new AbortController();
    const heads = world.store
      .watch({ ...again.ref, branch: 'main' }, 0 as Seq, controller.signal)
      [Symbol.asyncIterator]();
    const head = heads.next();
    await restore(again, [restored(a)]);
    assert.deepEqual(await head, { done: false, value: 1 });
    controller.abort();
    await heads.return?.();
    assert.equal((await world.store.sessions({ limit: 1 })).sessions[0]?.session, 'again');
  }),
];

/** The guarantees of `restore`. */
export const restoreCases: readonly ContractCase[] = [...written, ...refusals, ...erasures, ...seen];
