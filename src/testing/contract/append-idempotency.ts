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
  refused,
  request,
  saltedPart,
  valuePart,
} from './contract-case.ts';

/** The guarantees of `append` about ids. */
export const appendIdempotency: readonly ContractCase[] = [
  contractCase('append() answers a repeated batch with the seqs it has and writes nothing', async (world) => {
    const batch = [note('a'), note('b', { turn: 2 })];
    const first = await append(world, batch);
    await append(world, [note('later')]);
    const again = await append(
      world,
      batch.map((event) => ({ ...event, time: '2030-01-01T00:00:00.000Z' })),
    );
    assert.deepEqual({ ...again, known: false }, first);
    assert.equal(again.known, true);
    assert.equal((await world.store.branch({ ...world.ref, branch: 'main' }))?.head, 3);
  }),

  contractCase('append() checks ids before the condition and the epoch', async (world) => {
    const event = note('a');
    const options = { condition: { kind: 'head', seq: seq(0) }, epoch: seq(0) } as const;
    await append(world, [event], options);
    await append(world, [input('branch.rewound', { to: 0 })], { condition: { kind: 'head', seq: seq(1) } });
    assert.equal((await append(world, [event], options)).known, true);
  }),

  contractCase('append() refuses an id that is taken by other content', async (world) => {
    const event = note('a', { agent: 'x', run: 'r', turn: 1 });
    await append(world, [event]);
    for (const other of [
      { data: '{"text":"b"}' },
      { type: 'note.changed' },
      { version: 2 },
      { agent: 'y' },
      { run: 's' },
      { turn: 2 },
      { cause: event.id },
    ]) {
      await refused(world, 'event.id-reused', [{ ...event, ...other }]);
    }
    await refused(world, 'event.id-reused', [{ ...event, data: '{"text":"b"}' }, note('new')]);
    assert.equal(
      (
        await append(world, [
          {
            id: event.id,
            time: event.time,
            type: event.type,
            version: 1,
            data: event.data,
            keys: [],
            agent: 'x',
            run: 'r',
          },
        ])
      ).known,
      true,
    );
  }),

  contractCase('append() refuses a batch that is stored in part, and an id twice in one batch', async (world) => {
    const event = note('a');
    await append(world, [event]);
    await refused(world, 'append.partly-known', [event, note('b')]);
    const twice = note('c');
    await refused(world, 'event.id-reused', [twice, { ...twice }]);
    assert.equal((await world.store.branch({ ...world.ref, branch: 'main' }))?.head, 1);
  }),

  contractCase('append() knows ids in any order, across branches, and within one group of appends', async (world) => {
    const low = note('low', { id: '0-low' });
    await append(world, [note('z', { id: 'zzz' })]);
    await append(world, [low]);
    await fork(world, 'child', point('main', 1));
    const known = await append(world, [low], { branch: 'child' });
    assert.deepEqual([known.known, known.branch, known.events[0]?.seq], [true, 'main', 2]);
    const event = note('same');
    const outcomes = await world.store.append([
      request(world.ref, [event]),
      request(world.ref, [event]),
      request(world.ref, [{ ...event, data: '{"text":"other"}' }]),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.ok ? outcome.known : outcome.error.code)),
      [false, true, 'event.id-reused'],
    );
  }),

  contractCase('append() answers a repeated fork as known instead of "branch.exists"', async (world) => {
    await append(world, [note('a')]);
    const events = [forked(seq(1)), note('b')];
    const target = { kind: 'fork', branch: 'child', parent: point('main', 1) } as const;
    const first = await append(world, events, { target });
    const again = await append(world, events, { target });
    assert.deepEqual({ ...again, known: false }, first);
    await refused(world, 'branch.exists', [forked(seq(1))], { target });
  }),

  contractCase('append() keeps ids apart by session', async (world) => {
    const { store, ref } = world;
    await store.createSession({ ...ref, session: 'other' }, { root: 'main', seed: 'other' });
    const event = note('a');
    await append(world, [event]);
    const other = await append({ store, ref: { ...ref, session: 'other' } }, [{ ...event, data: '{"text":"b"}' }]);
    assert.equal(other.known, false);
  }),

  contractCase('append() takes a list stored anew with another salt for the same content', async (world) => {
    const message = await valuePart(JSON.stringify({ role: 'user', content: 'x'.repeat(600) }));
    const list = async (salt: string, items: unknown) =>
      await saltedPart('list', JSON.stringify({ items, previous: null }), [message.digest], salt);
    const first = await list('first', [{ $part: message.digest }]);
    const second = await list('second', [{ $part: message.digest }]);
    const other = await list('third', [{ $part: message.digest }, { role: 'user', content: 'more' }]);
    const event = input('thing.kept');
    const withList = (digest: string) => ({ ...event, data: JSON.stringify({ messages: { $list: digest } }) });
    await append(world, [withList(first.digest)], { parts: [message, first] });
    assert.equal((await append(world, [withList(second.digest)], { parts: [message, second] })).known, true);
    await refused(world, 'event.id-reused', [withList(other.digest)], { parts: [message, other] });
  }),
];
