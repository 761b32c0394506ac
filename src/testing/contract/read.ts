import assert from 'node:assert/strict';
import type { EventFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import { type Seq, seq } from '../../core/point.ts';
import {
  append,
  type ContractCase,
  carried,
  contractCase,
  fork,
  input,
  note,
  point,
  range,
  readAll,
  rejects,
  segment,
  seqsOf,
  textsOf,
  type World,
} from './contract-case.ts';
import { readClocksCases } from './read-clocks.ts';

async function tenNotes(world: World): Promise<void> {
  await append(
    world,
    Array.from({ length: 10 }, (_, index) => note(`n${index + 1}`)),
  );
}

const ranges: readonly ContractCase[] = [
  contractCase('read() gives stored events of a range, its beginning left out and its end included', async (world) => {
    await tenNotes(world);
    assert.deepEqual(seqsOf(await readAll(world, [segment('main', 3, 6)])), [4, 5, 6]);
    assert.deepEqual(seqsOf(await readAll(world, [segment('main', 0, 10)])), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert.deepEqual(seqsOf(await readAll(world, [segment('main', 6, 6)])), []);
    assert.deepEqual(seqsOf(await readAll(world, [segment('main', 8, 99)])), [9, 10]);
    assert.deepEqual(await readAll(world, []), []);
  }),

  contractCase(
    'read() gives several segments in the order of the view, from either end, whatever the page size',
    async (world) => {
      await tenNotes(world);
      await fork(world, 'child', point('main', 4), [note('c6'), note('c7')]);
      const view = [
        segment('main', 5, 7),
        carried('child', 6),
        segment('main', 0, 4, [range(1, 2)]),
        segment('child', 5, 7, [range(5, 6)]),
      ];
      const expected = [6, 7, 6, 1, 3, 4, 7];
      for (const limit of [1, 2, 3, 4, 7, 100]) {
        assert.deepEqual(seqsOf(await readAll(world, view, { limit })), expected, `forward, ${limit} a page`);
        assert.deepEqual(
          seqsOf(await readAll(world, view, { limit, direction: 'backward' })),
          [...expected].reverse(),
          `backward, ${limit} a page`,
        );
      }
      assert.deepEqual(
        (await readAll(world, view)).map((event) => event.branch),
        ['main', 'main', 'child', 'main', 'main', 'main', 'child'],
      );
    },
  ),

  contractCase('read() skips excepted ranges at the beginning, in the middle and at the end', async (world) => {
    await tenNotes(world);
    const view = [segment('main', 0, 10, [range(0, 2), range(4, 5), range(7, 10)])];
    for (const direction of ['forward', 'backward'] as const) {
      const seqs = seqsOf(await readAll(world, view, { limit: 2, direction }));
      assert.deepEqual(direction === 'forward' ? seqs : seqs.reverse(), [3, 4, 6, 7]);
    }
    assert.deepEqual(await readAll(world, [segment('main', 0, 10, [range(0, 10)])], { limit: 1 }), []);
  }),

  contractCase('read() continues after a cursor and gives none when the view is at its end', async (world) => {
    const { store, ref } = world;
    await tenNotes(world);
    const page = { limit: 4, select: 'full', direction: 'forward' } as const;
    const view = [segment('main', 0, 10)];
    const first = await store.read(ref, view, page);
    assert.deepEqual(first.next, { segment: 0, seq: 4 });
    await append(world, [note('later')]);
    const second = await store.read(ref, view, { ...page, cursor: { segment: 0, seq: seq(4) } });
    assert.deepEqual(seqsOf(second.events), [5, 6, 7, 8]);
    const last = await store.read(ref, view, { ...page, cursor: { segment: 0, seq: seq(8) } });
    assert.deepEqual([seqsOf(last.events), last.next], [[9, 10], undefined]);
    const whole = await store.read(ref, view, { ...page, limit: 10 });
    assert.equal(whole.next, undefined);
    const back = await store.read(ref, view, { ...page, direction: 'backward', limit: 10 });
    assert.equal(back.next, undefined);
  }),

  contractCase(
    'read() holds nothing of a branch that does not exist and refuses a session that does not',
    async (world) => {
      await tenNotes(world);
      assert.deepEqual(await readAll(world, [segment('nowhere', 0, 10), segment('main', 9, 10)]).then(seqsOf), [10]);
      await rejects(
        world.store.read({ ...world.ref, session: 'nowhere' }, [], { limit: 1, select: 'full', direction: 'forward' }),
        'session.not-found',
      );
    },
  ),

  contractCase('read() of 5,000 events comes in whole and in order', async (world) => {
    for (let batch = 0; batch < 5; batch++)
      await append(
        world,
        Array.from({ length: 1_000 }, (_, index) => note(`${batch * 1_000 + index + 1}`)),
      );
    const events = await readAll(world, [segment('main', 0, 5_000)]);
    assert.deepEqual(
      seqsOf(events),
      Array.from({ length: 5_000 }, (_, index) => index + 1),
    );
    assert.deepEqual(
      textsOf(events),
      events.map((event) => String(event.seq)),
    );
  }),
];

const selections: readonly ContractCase[] = [
  contractCase('read() leaves the payload out of headers and adds what a proof needs', async (world) => {
    await append(world, [note('a')]);
    const view = [segment('main', 0, 1)];
    const [header] = await readAll(world, view, { select: 'header' });
    const [full] = await readAll(world, view, { select: 'full' });
    const [proof] = await readAll(world, view, { select: 'proof' });
    assert.deepEqual([header?.data, full?.data, proof?.data], [null, '{"text":"a"}', '{"text":"a"}']);
    assert.deepEqual([header?.salt, full?.salt, typeof proof?.salt], [undefined, undefined, 'string']);
    assert.deepEqual([header?.dataDigest, full?.dataDigest, proof?.dataDigest], [undefined, undefined, null]);
    assert.deepEqual([header?.erased, full?.erased, proof?.erased], [false, false, false]);
    assert.deepEqual({ ...header, data: full?.data }, full);
  }),

  contractCase('read() stops a page at its bytes, and a larger event still makes a page of its own', async (world) => {
    const { store, ref } = world;
    const size = 1_000;
    await append(world, [
      note('x'.repeat(size)),
      note('y'.repeat(size)),
      note('z'.repeat(size * 5)),
      note('w'.repeat(size)),
    ]);
    const view = [segment('main', 0, 4)];
    for (const direction of ['forward', 'backward'] as const) {
      const pages: number[][] = [];
      let cursor: { segment: number; seq: Seq } | undefined;
      do {
        const page = await store.read(ref, view, {
          limit: 10,
          bytesMax: 2_500,
          select: 'full',
          direction,
          ...given({ cursor }),
        });
        pages.push(seqsOf(page.events));
        cursor = page.next;
      } while (cursor !== undefined);
      assert.deepEqual(
        pages.filter((page) => page.length > 0),
        direction === 'forward' ? [[1, 2], [3], [4]] : [[4], [3], [2, 1]],
      );
    }
    const headers = await store.read(ref, view, { limit: 10, bytesMax: 1, select: 'header', direction: 'forward' });
    assert.equal(headers.events.length, 4, 'headers hold no payload');
  }),

  contractCase('read() counts bytes across segments', async (world) => {
    await append(
      world,
      ['a', 'b', 'c'].map((letter) => note(letter.repeat(1_000))),
    );
    const view = [segment('main', 0, 1), segment('main', 1, 2), segment('main', 2, 3)];
    const page = await world.store.read(world.ref, view, {
      limit: 10,
      bytesMax: 2_100,
      select: 'full',
      direction: 'forward',
    });
    assert.deepEqual([seqsOf(page.events), page.next !== undefined], [[1, 2], true]);
  }),
];

const filtered: readonly [what: string, filter: EventFilter, seqs: readonly number[]][] = [
  ['types', { types: ['goal.set', 'decision.made'] }, [2, 4]],
  ['no types at all', { types: [] }, []],
  ['an agent exactly', { agent: 'support' }, [1, 3]],
  ['a part of an agent’s id, whatever its case', { agent: '~PORT' }, [1, 3, 4]],
  ['a part of an agent’s id beyond ASCII', { agent: '~É' }, [5]],
  ['an agent with a wildcard in its id, literally', { agent: '~%' }, [6]],
  ['a run', { run: 'r2' }, [3, 4]],
  ['a turn', { turn: 2 }, [3]],
  ['later turns', { turnAfter: 2 }, [4, 5, 6]],
  ['since a time', { since: '2026-01-03T00:00:00.000Z' }, [3, 4, 5, 6]],
  ['until a time', { until: '2026-01-03T00:00:00.000Z' }, [1, 2, 3]],
  ['a time with an offset', { since: '2026-01-03T02:00:00+02:00', until: '2026-01-04' }, [3, 4]],
  ['seqs', { after: 2, through: 4 }, [3, 4]],
  ['everything at once', { types: ['note.added'], agent: 'support', run: 'r2', turn: 2 }, [3]],
  ['nothing the store decides', { text: 'nowhere', kind: 'tool' }, [1, 2, 3, 4, 5, 6]],
];

const filters: readonly ContractCase[] = filtered.map(([what, filter, seqs]) =>
  contractCase(`read() filters by ${what}`, async (world) => {
    const day = (date: number) => `2026-01-0${date}T00:00:00.000Z`;
    await append(world, [
      note('', { agent: 'support', run: 'r1', turn: 1, time: day(1) }),
      input('goal.set', { goal: 'a goal' }, { turn: 1, time: day(2) }),
      note('', { agent: 'support', run: 'r2', turn: 2, time: day(3) }),
      input('decision.made', { decision: 'a decision' }, { agent: 'Support-2', run: 'r2', turn: 3, time: day(4) }),
      note('', { agent: 'café', turn: 4, time: day(5) }),
      note('', { agent: '100%', turn: 5, time: day(6) }),
    ]);
    for (const limit of [1, 2, 10]) {
      assert.deepEqual(seqsOf(await readAll(world, [segment('main', 0, 6)], { filter, limit })), seqs);
      assert.deepEqual(
        seqsOf(await readAll(world, [segment('main', 0, 6)], { filter, limit, direction: 'backward' })),
        [...seqs].reverse(),
      );
    }
    const views = [segment('main', 0, 2), carried('main', 3), segment('main', 3, 6)];
    const expected = [...new Set([...seqs, 3])].sort((a, b) => a - b);
    assert.deepEqual(
      seqsOf(await readAll(world, views, { filter })),
      expected,
      'a carried event passes: what it carries is inside',
    );
  }),
);

const scans: readonly ContractCase[] = [
  contractCase('read() with a rare filter comes back in bounded pages and finds everything', async (world) => {
    for (let batch = 0; batch < 5; batch++) {
      await append(
        world,
        Array.from({ length: 9_000 }, (_, index) => note('', { turn: index === 17 ? 7 : 0 })),
      );
    }
    for (const direction of ['forward', 'backward'] as const) {
      const events = await readAll(world, [segment('main', 0, 45_000)], {
        filter: { turn: 7 },
        limit: 100,
        select: 'header',
        direction,
      });
      const expected = [18, 9_018, 18_018, 27_018, 36_018];
      assert.deepEqual(seqsOf(events), direction === 'forward' ? expected : expected.reverse());
    }
  }),
];

/** The guarantees of `read`. */
export const readCases: readonly ContractCase[] = [...ranges, ...selections, ...filters, ...scans, ...readClocksCases];
