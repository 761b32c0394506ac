import { expect, test } from 'vitest';
import type { Belief } from '../../../src/core/fleet/belief.ts';
import { seq } from '../../../src/core/point.ts';
import { byTopic, isBeliefs } from './beliefs-section.tsx';

const belief = (id: string, topic?: string): Belief => ({
  id,
  claim: id,
  kind: 'fact',
  branch: 'main',
  seq: seq(1),
  turn: 0,
  time: '2026-11-16T09:00:00.000Z',
  trust: 1,
  ...(topic === undefined ? {} : { topic }),
});

test('claims on one topic stand together, in the order in which topics came up', () => {
  const topics = byTopic([belief('a', 'price'), belief('b'), belief('c', 'price')]);
  expect(topics.map(({ topic, beliefs }) => [topic, beliefs.map(({ id }) => id)])).toEqual([
    ['price', ['a', 'c']],
    [undefined, ['b']],
  ]);
});

test('a value that is no list of claims is not shown as one', () => {
  expect([isBeliefs([]), isBeliefs({}), isBeliefs([1]), isBeliefs([{ claim: 'a', seq: 1 }])]).toEqual([
    true,
    false,
    false,
    true,
  ]);
});
