import assert from 'node:assert/strict';
import { beginning, seq } from '../../core/point.ts';
import { appendConditions } from './append-conditions.ts';
import { appendForks } from './append-forks.ts';
import { appendIdempotency } from './append-idempotency.ts';
import { appendParts } from './append-parts.ts';
import {
  append,
  type ContractCase,
  contractCase,
  note,
  readAll,
  refused,
  request,
  segment,
  seqsOf,
  textsOf,
} from './contract-case.ts';

const basics: readonly ContractCase[] = [
  contractCase('append() numbers events from 1 without gaps and gives each its seq, turn and digest', async (world) => {
    const first = await append(world, [note('a'), note('b')]);
    const second = await append(world, [note('c')]);
    assert.deepEqual(seqsOf([...first.events, ...second.events]), [1, 2, 3]);
    assert.equal(first.known, false);
    assert.equal(first.branch, 'main');
    assert.ok([...first.events, ...second.events].every((event) => /^[0-9a-f]{64}$/.test(event.digest)));
    assert.equal(new Set([...first.events, ...second.events].map((event) => event.digest)).size, 3);
  }),

  contractCase(
    'append() gives an event the turn it names, else its cause’s, else that of the last event',
    async (world) => {
      const [first] = (await append(world, [note('a', { turn: 3 })])).events;
      const [second] = (await append(world, [note('b', { turn: 7 })])).events;
      const third = await append(world, [note('c'), note('d', { cause: first?.id ?? '' }), note('e')]);
      assert.deepEqual([first?.turn, second?.turn, ...third.events.map((event) => event.turn)], [3, 7, 7, 3, 3]);
      assert.deepEqual(
        third.events.map((event) => event.causeSeq),
        [undefined, 1, undefined],
      );
    },
  ),

  contractCase('append() takes a cause from the same batch and refuses one that is nowhere', async (world) => {
    const cause = note('a', { turn: 2 });
    const outcome = await append(world, [cause, note('b', { cause: cause.id })]);
    assert.deepEqual([outcome.events[1]?.turn, outcome.events[1]?.causeSeq], [2, 1]);
    await refused(world, 'event.not-found', [note('c', { cause: 'nowhere' })]);
    assert.equal((await world.store.branch({ ...world.ref, branch: 'main' }))?.head, 2);
  }),

  contractCase('append() judges each request alone: a refused one does not disturb its neighbours', async (world) => {
    const { store, ref } = world;
    const outcomes = await store.append([
      request(ref, [note('a')]),
      request(ref, [note('refused')], { condition: { kind: 'head', seq: seq(9) } }),
      request(ref, [note('b'), note('c')], { condition: { kind: 'head', seq: seq(1) } }),
      request(ref, [note('lost')], { branch: 'nowhere' }),
      request({ ...ref, session: 'nowhere' }, [note('lost')]),
      request(ref, [note('d')]),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.ok ? seqsOf(outcome.events) : outcome.error.code)),
      [[1], 'append.conflict', [2, 3], 'branch.not-found', 'session.not-found', [4]],
    );
    assert.deepEqual(textsOf(await readAll(world, [segment('main', 0, 9)])), ['a', 'b', 'c', 'd']);
  }),

  contractCase('append() writes all of a batch or none of it', async (world) => {
    await refused(world, 'event.not-found', [note('a'), note('b'), note('c', { cause: 'nowhere' })]);
    assert.deepEqual(await readAll(world, [segment('main', 0, 9)]), []);
    await append(world, [note('d')]);
    assert.deepEqual(textsOf(await readAll(world, [segment('main', 0, 9)])), ['d']);
  }),

  contractCase('append() gives concurrent writers one order without gaps', async (world) => {
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, (_, index) => append(world, [note(`n${index}`), note(`m${index}`)])),
    );
    const seqs = outcomes.flatMap((outcome) => seqsOf(outcome.events)).sort((a, b) => a - b);
    assert.deepEqual(
      seqs,
      Array.from({ length: 128 }, (_, index) => index + 1),
    );
    for (const outcome of outcomes) assert.equal(outcome.events[1]?.seq, (outcome.events[0]?.seq ?? 0) + 1);
  }),

  contractCase('append() refuses an empty batch and gives no outcomes for no requests', async (world) => {
    await refused(world, 'append.empty', []);
    assert.deepEqual(await world.store.append([]), []);
  }),

  contractCase('append() refuses a session and a branch that do not exist', async (world) => {
    await refused({ ...world, ref: { ...world.ref, session: 'nowhere' } }, 'session.not-found', [note('a')]);
    await refused({ ...world, ref: { ...world.ref, namespace: 'nowhere' } }, 'session.not-found', [note('a')]);
    await refused(world, 'branch.not-found', [note('a')], { branch: 'nowhere' });
  }),

  contractCase('append() keeps every field of an event as it was given', async (world) => {
    const given = note('a "quoted" \u2028 line, \u{1F600} and \\u0000', {
      agent: 'ägent',
      run: 'run 1',
      turn: 4,
      version: 3,
      time: '1999-12-31T23:59:59.999Z',
      id: 'any id: 100%',
    });
    const [stored] = (await append(world, [given])).events;
    const [event] = await readAll(world, [segment('main', 0, 1)]);
    assert.deepEqual(event, {
      branch: 'main',
      seq: 1,
      id: given.id,
      time: given.time,
      type: given.type,
      version: 3,
      agent: 'ägent',
      run: 'run 1',
      turn: 4,
      cause: null,
      causeSeq: null,
      digest: stored?.digest,
      data: given.data,
      erased: false,
    });
  }),

  contractCase(
    'append() refuses more events and more bytes than the limits allow, and writes nothing',
    async (world) => {
      await refused(
        world,
        'limit.exceeded',
        Array.from({ length: 10_001 }, () => note('a')),
      );
      assert.equal((await world.store.branch({ ...world.ref, branch: 'main' }))?.head, beginning);
    },
  ),

  contractCase('append() takes a payload of several megabytes', async (world) => {
    const large = 'x'.repeat(5_000_000);
    await append(world, [note(large), note('small')]);
    const events = await readAll(world, [segment('main', 0, 2)]);
    assert.deepEqual(textsOf(events), [large, 'small']);
  }),
];

/** The guarantees of `append`. */
export const appendCases: readonly ContractCase[] = [
  ...basics,
  ...appendConditions,
  ...appendIdempotency,
  ...appendForks,
  ...appendParts,
];
