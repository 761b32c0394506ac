import assert from 'node:assert/strict';
import { seq } from '../../core/point.ts';
import {
  append,
  type ContractCase,
  contractCase,
  fork,
  input,
  keyed,
  keyOf,
  note,
  point,
  refused,
  type World,
} from './contract-case.ts';

const unchanged = (since: number, keys: readonly string[], prefixes: readonly string[] = []) =>
  ({
    condition: { kind: 'unchanged', since: seq(since), keys: keys.map(keyOf), prefixes: prefixes.map(keyOf) },
  }) as const;
const head = (at: number) => ({ condition: { kind: 'head', seq: seq(at) } }) as const;

async function appendKeyed(world: World, ...keys: readonly string[]): Promise<void> {
  await append(
    world,
    keys.map((key) => keyed([key])),
  );
}

/** The guarantees of `append` about conditions and epochs. */
export const appendConditions: readonly ContractCase[] = [
  contractCase('append() under "head" is written at that head and refused at any other', async (world) => {
    await append(world, [note('a')], head(0));
    const error = await refused(world, 'append.conflict', [note('b')], head(0));
    assert.deepEqual([error.details['expected'], error.details['actual']], [0, 1]);
    await refused(world, 'append.conflict', [note('b')], head(2));
    await append(world, [note('b')], head(1));
  }),

  contractCase('append() under "head" lets exactly one of many concurrent writers through', async (world) => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => append(world, [note('a')], head(0))));
    assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
  }),

  contractCase(
    'append() under "unchanged" is refused when a named key was written since, and not by other keys',
    async (world) => {
      await appendKeyed(world, 'plan', 'other');
      await append(world, [keyed(['plan'])], unchanged(1, ['plan']));
      const error = await refused(world, 'state.conflict', [note('d')], unchanged(1, ['nothing', 'plan']));
      assert.deepEqual([error.details['seq'], error.details['key']], [3, keyOf('plan')]);
      await append(world, [note('e')], unchanged(2, ['other', 'plans', 'pla']));
      await append(world, [note('f')], unchanged(3, ['plan']));
    },
  ),

  contractCase(
    'append() under "unchanged" with a prefix is refused by a key that did not exist before',
    async (world) => {
      await appendKeyed(world, 'a/1', 'b/1');
      await append(world, [note('ok')], unchanged(2, [], ['a/', 'c/']));
      await appendKeyed(world, 'a/2');
      await refused(world, 'state.conflict', [note('no')], unchanged(2, [], ['c/', 'a/']));
      await append(world, [note('ok')], unchanged(2, [], ['b/', 'a/1', 'A/']));
      await refused(world, 'state.conflict', [note('no')], unchanged(2, [], ['']));
    },
  ),

  contractCase('append() takes a prefix literally, whatever characters are in it', async (world) => {
    await appendKeyed(world, 'a%b', 'a_b', 'a\u0001\u0001b', 'a\u{10FFFF}b', 'a\uFFFFb');
    for (const prefix of ['a*', 'a?', '%', '_', 'A', 'a[', 'a\u{10FFFE}', 'a\uE000'])
      await append(world, [note('ok')], unchanged(0, [], [prefix]));
    for (const prefix of ['a%', 'a_', 'a\u0001', 'a\u{10FFFF}', 'a\uFFFF', 'a'])
      await refused(world, 'state.conflict', [note('no')], unchanged(0, [], [prefix]));
  }),

  contractCase('append() under "unchanged" counts an edit of the history as a change of every key', async (world) => {
    await append(world, [note('a'), note('b')]);
    await append(world, [input('event.reverted', { seqs: [1], target: 1 })], head(2));
    await refused(world, 'state.conflict', [note('c')], unchanged(2, ['anything']));
    await append(world, [note('c')], unchanged(3, ['anything']));
  }),

  contractCase('append() under "unchanged" sees a write of the same group of appends', async (world) => {
    const outcomes = await Promise.allSettled([
      append(world, [keyed(['plan'])], unchanged(0, ['plan'])),
      append(world, [keyed(['plan'])], unchanged(0, ['plan'])),
      append(world, [keyed(['other'])], unchanged(0, ['other'])),
    ]);
    const [a, b, other] = outcomes.map((outcome) => outcome.status);
    assert.deepEqual([a, b].sort(), ['fulfilled', 'rejected'], 'one of the two was first');
    assert.equal(other, 'fulfilled');
  }),

  contractCase(
    'append() under "unchanged" looks through the fork at the parent’s events, and not beyond the fork point',
    async (world) => {
      await appendKeyed(world, 'a', 'b');
      await fork(world, 'child', point('main', 1));
      await appendKeyed(world, 'a');
      await append(world, [note('ok')], { branch: 'child', ...unchanged(1, ['a', 'b']) });
      await refused(world, 'state.conflict', [note('no')], { branch: 'child', ...unchanged(0, ['a']) });
      await append(world, [keyed(['b'])], { branch: 'child' });
      await refused(world, 'state.conflict', [note('no')], { branch: 'child', ...unchanged(1, ['b']) });
    },
  ),

  contractCase('append() of an older epoch is refused after a rewind, and taken in the new one', async (world) => {
    await append(world, [note('a'), note('b')], { epoch: seq(0) });
    await append(world, [input('branch.rewound', { to: 1 })], head(2));
    assert.equal((await world.store.branch({ ...world.ref, branch: 'main' }))?.epoch, 3);
    const error = await refused(world, 'branch.rewound', [note('c')], { epoch: seq(0) });
    assert.equal(error.details['epoch'], 3);
    await append(world, [note('c')], { epoch: seq(3) });
    await append(world, [note('d')]);
  }),

  contractCase('append() refuses structural events that do not fit the history', async (world) => {
    await append(world, [note('a'), note('b')]);
    await refused(world, 'event.reserved', [input('event.reverted', { seqs: [1], target: 1 })]);
    await refused(world, 'event.not-in-view', [input('event.reverted', { seqs: [9], target: 9 })], head(2));
    await refused(world, 'point.out-of-range', [input('branch.rewound', { to: 9 })], head(2));
    await refused(world, 'edit.invalid', [input('branch.forked', { parent: { seq: 2 } })], head(2));
    assert.equal((await world.store.branch({ ...world.ref, branch: 'main' }))?.head, 2);
  }),

  contractCase('append() gives an event the turn of the view’s last event after a rewind', async (world) => {
    await append(world, [note('a', { turn: 1 }), note('b', { turn: 5 })]);
    await append(world, [input('branch.rewound', { to: 1 })], head(2));
    const [event] = (await append(world, [note('c')])).events;
    assert.equal(event?.turn, 1);
    await append(world, [input('branch.rewound', { to: 0 })], head(4));
    assert.equal((await append(world, [note('d')])).events[0]?.turn, 0);
  }),
];
