import { expect, it } from 'vitest';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { append, note, readAll, segment, seqsOf } from '../../src/testing/contract/contract-case.ts';
import { newPlace, tamper } from './place.ts';

const ref = { namespace: 'default', session: 'demo' };
const day = (date: number): string => `2026-01-${String(date).padStart(2, '0')}T00:00:00.000Z`;
const many = (count: number, date: number, turn: number) =>
  Array.from({ length: count }, () => note('', { time: day(date), turn }));

it('reindex() makes clocks what the log says, also for the appends after it', async () => {
  const place = newPlace();
  const store = await openPostgresStore({ url: place, platform: createNodePlatform(), durability: 'process' });
  await store.createSession(ref, { root: 'main', seed: 'x' });
  const world = { store, ref };
  const after = (turnAfter: number) =>
    readAll(world, [segment('main', 0, 9_999)], { filter: { turnAfter }, select: 'header' });
  const since = (date: number) =>
    readAll(world, [segment('main', 0, 9_999)], { filter: { since: day(date) }, select: 'header' });
  await append(world, [...many(2, 9, 9), ...many(1_600, 3, 3)]);
  expect([seqsOf(await since(8)), seqsOf(await after(8))]).toEqual([
    [1, 2],
    [1, 2],
  ]);
  await tamper(
    place,
    `UPDATE events SET latest_time = NULL, highest_turn = NULL; UPDATE branches SET latest_time = '', highest_turn = -1`,
  );
  expect([seqsOf(await since(8)), seqsOf(await after(8))]).toEqual([[], []]);
  await store.reindex(ref);
  await append(world, [...many(2, 8, 7), ...many(1_500, 4, 4)]);
  expect(seqsOf(await since(8))).toEqual([1, 2, 1_603, 1_604]);
  expect(seqsOf(await after(6))).toEqual([1, 2, 1_603, 1_604]);
  await store.close();
});
