import assert from 'node:assert/strict';
import { type KeySelector, parseKey } from '../../core/event/keys.ts';
import { given } from '../../core/json.ts';
import { seq } from '../../core/point.ts';
import type { Segment, ViewPoint } from '../../core/view/view.ts';
import {
  append,
  type ContractCase,
  carried,
  contractCase,
  fork,
  input,
  keyed as keyedEvent,
  keyOf,
  note,
  point,
  range,
  rejects,
  segment,
  someTime,
  type World,
} from './contract-case.ts';

async function latest(
  { store, ref }: World,
  view: readonly Segment[],
  select: KeySelector,
  limit = 1_000,
): Promise<[string, string, number][]> {
  const found: [string, string, number][] = [];
  let after: string | undefined;
  do {
    const page = await store.latest(ref, view, named(select), {
      limit,
      select: 'full',
      ...given({ after }),
    });
    assert.ok(page.entries.length <= limit, 'a page holds no more than its limit');
    for (const { key, event } of page.entries) found.push([nameOf(key), event.branch, event.seq]);
    after = page.next;
  } while (after !== undefined);
  return found;
}

const keyed = (...names: readonly string[]) => keyedEvent(names);

/** Asks for names instead of keys. */
const named = (select: KeySelector): KeySelector =>
  'keys' in select ? { keys: select.keys.map(keyOf) } : { prefix: keyOf(select.prefix) };

const nameOf = (key: string): string => parseKey(key).name;

const carriedEvent = { type: 'state.committed', version: 1, time: someTime, turn: 0, agent: 'keeper' };

/** The guarantees of `latest`. */
export const latestCases: readonly ContractCase[] = [
  contractCase('latest() gives the last event of each key, for keys and for a prefix', async (world) => {
    await append(world, [keyed('a/1'), keyed('a/2', 'b/1'), keyed('a/1'), note('none')]);
    const view = [segment('main', 0, 4)];
    assert.deepEqual(await latest(world, view, { keys: ['b/1', 'a/1', 'nowhere', 'a/1'] }), [
      ['a/1', 'main', 3],
      ['b/1', 'main', 2],
    ]);
    assert.deepEqual(await latest(world, view, { prefix: 'a/' }), [
      ['a/1', 'main', 3],
      ['a/2', 'main', 2],
    ]);
    assert.deepEqual(await latest(world, view, { prefix: '' }), [
      ['a/1', 'main', 3],
      ['a/2', 'main', 2],
      ['b/1', 'main', 2],
    ]);
    assert.deepEqual(await latest(world, view, { prefix: 'c' }), []);
    assert.deepEqual(
      await latest(world, [segment('main', 0, 2)], { keys: ['a/1'] }),
      [['a/1', 'main', 1]],
      'as of an earlier point',
    );
    assert.deepEqual(await latest(world, [segment('main', 1, 2)], { prefix: '' }), [
      ['a/2', 'main', 2],
      ['b/1', 'main', 2],
    ]);
    assert.deepEqual(await latest(world, [], { prefix: '' }), []);
  }),

  contractCase('latest() follows the order of the view, not of seqs', async (world) => {
    await append(world, [keyed('k'), keyed('k'), keyed('k')]);
    assert.deepEqual(await latest(world, [segment('main', 2, 3), segment('main', 0, 1)], { keys: ['k'] }), [
      ['k', 'main', 1],
    ]);
    assert.deepEqual(
      await latest(world, [segment('main', 1, 2), carried('main', 1), segment('main', 3, 3)], { prefix: 'k' }),
      [['k', 'main', 1]],
    );
  }),

  contractCase('latest() passes over excepted ranges, however many there are', async (world) => {
    await append(
      world,
      Array.from({ length: 20 }, () => keyed('k')),
    );
    assert.deepEqual(
      await latest(world, [segment('main', 0, 20, [range(1, 3), range(4, 8), range(9, 20)])], { keys: ['k'] }),
      [['k', 'main', 9]],
    );
    assert.deepEqual(
      await latest(world, [segment('main', 0, 1), segment('main', 1, 20, [range(1, 12), range(12, 20)])], {
        keys: ['k'],
      }),
      [['k', 'main', 1]],
    );
    assert.deepEqual(await latest(world, [segment('main', 0, 20, [range(0, 20)])], { prefix: '' }), []);
  }),

  contractCase('latest() reads through forks and never what the parent wrote after them', async (world) => {
    await append(world, [keyed('a'), keyed('b')]);
    await fork(world, 'child', point('main', 1), [keyed('c')]);
    await append(world, [keyed('a'), keyed('d')]);
    const view = [segment('main', 0, 1), segment('child', 2, 3)];
    assert.deepEqual(await latest(world, view, { prefix: '' }), [
      ['a', 'main', 1],
      ['c', 'child', 3],
    ]);
    assert.deepEqual(await latest(world, view, { keys: ['a', 'b', 'c', 'd'] }), [
      ['a', 'main', 1],
      ['c', 'child', 3],
    ]);
  }),

  contractCase('latest() asked by a point gives what its segments give, and the head of the branch', async (world) => {
    const { store, ref } = world;
    const at = async (view: ViewPoint, select: KeySelector): Promise<unknown> => {
      const { head, ...page } = await store.latest(ref, view, named(select), { limit: 10, select: 'full' });
      return [head, ...page.entries.map(({ key, event }) => [nameOf(key), event.branch, event.seq])];
    };
    assert.deepEqual(await at({ branch: 'main' }, { prefix: '' }), [0], 'an empty branch has a head');
    await append(world, [keyed('a'), keyed('b'), keyed('a')]);
    await fork(world, 'child', point('main', 2), [keyed('c')]);
    assert.deepEqual(await at({ branch: 'main' }, { keys: ['a'] }), [3, ['a', 'main', 3]]);
    assert.deepEqual(await at({ branch: 'main', at: seq(2) }, { keys: ['a'] }), [3, ['a', 'main', 1]]);
    assert.deepEqual(await at({ branch: 'main', at: seq(0) }, { keys: ['a'] }), [3]);
    assert.deepEqual(await at({ branch: 'main' }, { keys: ['nowhere'] }), [3]);
    assert.deepEqual(await at({ branch: 'child' }, { prefix: '' }), [
      4,
      ['a', 'main', 1],
      ['b', 'main', 2],
      ['c', 'child', 4],
    ]);
    assert.deepEqual(await at({ branch: 'child', at: seq(1) }, { prefix: '' }), [4, ['a', 'main', 1]]);
    await append(world, [input('branch.rewound', { to: 1 })], { condition: { kind: 'head', seq: seq(3) } });
    assert.deepEqual(await at({ branch: 'main' }, { prefix: '' }), [4, ['a', 'main', 1]], 'rewound');
    await append(world, [keyed('b'), keyed('d')]);
    assert.deepEqual(await at({ branch: 'main' }, { keys: ['a', 'b'] }), [6, ['a', 'main', 1], ['b', 'main', 5]]);
    assert.deepEqual(await at({ branch: 'main', at: seq(3) }, { keys: ['a'] }), [6, ['a', 'main', 3]], 'I6');
  }),

  contractCase('latest() asked by a point that is not there gives neither entries nor a head', async (world) => {
    const { store, ref } = world;
    await append(world, [keyed('a')]);
    const page = { limit: 1, select: 'full' } as const;
    for (const [session, view] of [
      [ref, { branch: 'main', at: seq(2) }],
      [ref, { branch: 'nowhere' }],
      [{ ...ref, session: 'nowhere' }, { branch: 'main' }],
      [{ ...ref, namespace: 'elsewhere' }, { branch: 'main' }],
    ] as const)
      assert.deepEqual(await store.latest(session, view, named({ keys: ['a'] }), page), { entries: [] });
  }),

  contractCase('latest() finds a marker under the keys of the event it carries', async (world) => {
    await append(world, [keyed('plan')]);
    const replaced = input(
      'event.replaced',
      { seq: 1, event: { ...carriedEvent, data: JSON.parse(keyed('plan', 'new').data) } },
      { keys: ['plan', 'new'].map(keyOf) },
    );
    await append(world, [replaced], { condition: { kind: 'head', seq: point('main', 1).seq } });
    assert.deepEqual(await latest(world, [carried('main', 2)], { prefix: '' }), [
      ['new', 'main', 2],
      ['plan', 'main', 2],
    ]);
    assert.deepEqual(await latest(world, [segment('main', 0, 1)], { prefix: '' }), [['plan', 'main', 1]]);
  }),

  contractCase(
    'latest() pages by key in the order of UTF-8 bytes, surrogates and control characters included',
    async (world) => {
      const sorted = [
        '',
        '\u0001',
        '\u0001\u0001',
        '!',
        'B',
        'a',
        'a\u0001',
        'a!',
        'aa',
        'z',
        'é',
        '\uD7FF',
        '\uE000',
        '\uFFFF',
        '\u{10000}',
        '\u{10000}a',
        '\u{1F600}',
        '\u{10FFFF}',
        '\u{10FFFF}\u{10FFFF}',
      ];
      await append(
        world,
        [...sorted].reverse().map((key) => keyed(`p${key}`)),
      );
      await append(world, [keyed('o'), keyed('q')]);
      for (const limit of [1, 2, 5, 1_000]) {
        assert.deepEqual(
          (await latest(world, [segment('main', 0, 99)], { prefix: 'p' }, limit)).map(([key]) => key.slice(1)),
          sorted,
          `${limit} a page`,
        );
        assert.deepEqual(
          (await latest(world, [segment('main', 0, 99)], { keys: sorted.map((key) => `p${key}`) }, limit)).map(
            ([key]) => key.slice(1),
          ),
          sorted,
        );
      }
      assert.deepEqual((await latest(world, [segment('main', 0, 99)], { prefix: 'p\u{10FFFF}' })).length, 2);
      assert.deepEqual((await latest(world, [segment('main', 0, 99)], { prefix: 'p\uD7FF' })).length, 1);
      assert.deepEqual((await latest(world, [segment('main', 0, 99)], { prefix: 'p%' })).length, 0);
    },
  ),

  contractCase('latest() pages past keys that are not in the view', async (world) => {
    await append(
      world,
      Array.from({ length: 50 }, (_, index) => keyed(`k${String(index).padStart(3, '0')}`)),
    );
    assert.deepEqual(await latest(world, [segment('main', 48, 50)], { prefix: 'k' }, 3), [
      ['k048', 'main', 49],
      ['k049', 'main', 50],
    ]);
  }),

  contractCase('latest() gives headers or whole events', async (world) => {
    await append(world, [keyed('k')]);
    const view = [segment('main', 0, 1)];
    const [header] = (await world.store.latest(world.ref, view, named({ keys: ['k'] }), { limit: 1, select: 'header' }))
      .entries;
    const [full] = (await world.store.latest(world.ref, view, named({ keys: ['k'] }), { limit: 1, select: 'full' }))
      .entries;
    assert.deepEqual([header?.event.data, full?.event.data], [null, keyed('k').data]);
  }),

  contractCase('latest() refuses too many keys and a session that does not exist', async ({ store, ref }) => {
    const keys = Array.from({ length: 10_001 }, (_, index) => String(index));
    await rejects(store.latest(ref, [], { keys }, { limit: 1, select: 'full' }), 'limit.exceeded');
    await rejects(
      store.latest({ ...ref, session: 'nowhere' }, [], { keys: [] }, { limit: 1, select: 'full' }),
      'session.not-found',
    );
  }),

  contractCase('latest() pages through 3,000 keys with many versions each', async (world) => {
    const key = (index: number) => `k${String(index).padStart(5, '0')}`;
    for (let round = 0; round < 3; round++)
      await append(
        world,
        Array.from({ length: 3_000 }, (_, index) => keyed(key(index))),
      );
    const found = await latest(world, [segment('main', 0, 9_000)], { prefix: 'k' });
    assert.equal(found.length, 3_000);
    assert.ok(found.every(([held, , at], index) => held === key(index) && at === 6_001 + index));
  }),
];
