import assert from 'node:assert/strict';
import type { EventFilter } from '../../core/event/filter.ts';
import { seq } from '../../core/point.ts';
import type { EventInput } from '../../core/store/event-store.ts';
import type { Segment } from '../../core/view/view.ts';
import {
  append,
  type ContractCase,
  carried,
  contractCase,
  fork,
  note,
  point,
  range,
  readAll,
  segment,
  seqsOf,
  someTime,
  type World,
} from './contract-case.ts';

const start = Date.parse(someTime);
const at = (second: number): string => new Date(start + second * 1_000).toISOString();

/** Numbers from 0 up to a bound that look like chance and are the same every time. */
function chance(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % bound;
  };
}

/** Notes by clocks that mostly rise, sometimes stop, and sometimes go back a little or a lot. */
function clockedNotes(count: number, seed: number): EventInput[] {
  const next = chance(seed);
  let [second, turn] = [0, 0];
  return Array.from({ length: count }, () => {
    const luck = next(1_000);
    second += luck < 920 ? next(3) : luck < 995 ? -next(10) : -next(60);
    turn = Math.max(0, turn + (luck < 800 ? 0 : luck < 950 ? 1 : -next(4)));
    return note('', { time: at(second), turn });
  });
}

/** Returns what passes, by looking at every event. */
async function passing(world: World, view: readonly Segment[], { since, turnAfter }: EventFilter): Promise<number[]> {
  const events = await readAll(world, view, { select: 'header' });
  const isCarried = new Set(view.filter((held) => held.carried).map((held) => `${held.branch}@${held.through}`));
  const found = events.filter(
    ({ branch, seq: own, time, turn }) =>
      isCarried.has(`${branch}@${own}`) ||
      ((since === undefined || time >= since) && (turnAfter === undefined || turn > turnAfter)),
  );
  return seqsOf(found);
}

/** The guarantees of `read` of times and turns. */
export const readClocksCases: readonly ContractCase[] = [
  contractCase('read() finds all that is not before a time or turn, though clocks go back', async (world) => {
    const notes = clockedNotes(2_400, 7);
    // In appends of several sizes: each continues with the clock that the one before has left.
    for (let from = 0; from < notes.length; from += 1 + (from % 397)) {
      const size = 1 + (from % 397);
      await append(world, notes.slice(from, from + size));
    }
    await fork(world, 'child', point('main', 1_300), clockedNotes(1_400, 11));
    const views = [
      [segment('main', 0, 2_400)],
      [segment('main', 0, 9_999)],
      [segment('main', 0, 1_300), segment('child', 1_300, 2_701)],
      [segment('main', 200, 1_300, [range(300, 900)]), carried('main', 1_400), segment('child', 1_300, 2_701)],
      [segment('child', 1_350, 2_600), segment('main', 100, 2_300), segment('main', 0, 20)],
    ];
    const seconds = [-1, 0, 17, 400, 777, 900, 1_000, 99_999];
    const filters: readonly EventFilter[] = [
      ...seconds.map((second) => ({ since: at(second) })),
      ...[0, 3, 20, 60, 100, 9_999].map((turnAfter) => ({ turnAfter })),
      { since: at(700), turnAfter: 40 },
    ];
    for (const [index, view] of views.entries()) {
      for (const filter of filters) {
        const expected = await passing(world, view, filter);
        const what = `view ${index}, ${JSON.stringify(filter)}`;
        for (const limit of index === 2 ? [297, 1_000] : [1_000])
          assert.deepEqual(seqsOf(await readAll(world, view, { filter, limit, select: 'header' })), expected, what);
        if (index !== 3) continue;
        const back = await readAll(world, view, { filter, select: 'full', direction: 'backward' });
        assert.deepEqual(seqsOf(back).reverse(), expected, `${what}, from its end`);
      }
    }
  }),

  contractCase('read() finds the first event that is not before a time or turn at once', async (world) => {
    const many = (count: number, more: Partial<EventInput>): EventInput[] =>
      Array.from({ length: count }, () => note('', more));
    await append(world, many(9_000, { time: at(10), turn: 1 }));
    await append(world, many(9_000, { time: at(20), turn: 3 }));
    await append(world, many(9_000, { time: at(-5_000), turn: 0 }));
    await append(world, many(3, { time: at(30), turn: 4 }));
    const first = async (filter: EventFilter): Promise<number[]> => {
      const page = { limit: 1, select: 'header', direction: 'forward', filter } as const;
      const { events } = await world.store.read(world.ref, [segment('main', 0, 27_003)], page);
      return seqsOf(events);
    };
    assert.deepEqual(await first({ since: at(20) }), [9_001]);
    assert.deepEqual(await first({ since: at(21) }), [27_001]);
    assert.deepEqual(await first({ turnAfter: 1 }), [9_001]);
    assert.deepEqual(await first({ turnAfter: 3 }), [27_001]);
    assert.deepEqual(await first({ since: at(31) }), []);
    const { next } = await world.store.read(world.ref, [segment('main', 0, 27_003)], {
      limit: 1,
      select: 'header',
      direction: 'forward',
      filter: { since: at(31) },
    });
    assert.equal(next, undefined, 'nothing is left to look at');
  }),

  contractCase('read() goes by the clocks of what is stored after an append was refused or forked', async (world) => {
    await append(world, clockedNotes(40, 3));
    const late = note('', { time: at(9_999), turn: 99 });
    const refused = { kind: 'head', seq: seq(7) } as const;
    await assert.rejects(append(world, [late], { condition: refused }));
    await fork(world, 'child', point('main', 40), [late, ...clockedNotes(40, 5)]);
    await append(world, clockedNotes(1_200, 9));
    for (const filter of [{ since: at(30) }, { since: at(800) }, { turnAfter: 9 }, { turnAfter: 80 }]) {
      for (const view of [[segment('main', 0, 1_240)], [segment('main', 0, 40), segment('child', 40, 82)]])
        assert.deepEqual(
          seqsOf(await readAll(world, view, { filter, select: 'header' })),
          await passing(world, view, filter),
        );
    }
  }),
];
