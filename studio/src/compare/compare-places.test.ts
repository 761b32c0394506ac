import { expect, test } from 'vitest';
import { seq } from '../../../src/core/point.ts';
import type { ComparePair } from '../source/answers.ts';
import { isAtPlace, nearestPair } from './compare-places.ts';

const line = (at: number) => ({ seq: seq(at), type: 'note.added', agent: null, time: '', turn: 0, gist: '' });
const pairs: readonly ComparePair[] = [
  { kind: 'equal', count: 3, left: [seq(1), seq(3)], right: [seq(1), seq(3)] },
  { kind: 'onlyRight', right: line(4) },
  { kind: 'changed', left: line(4), right: line(5) },
];

test('a seq of either side finds its pair', () => {
  expect([1, 3, 4, 99].map((at) => nearestPair(pairs, 'left', at))).toEqual([0, 0, 2, 2]);
  expect([2, 4, 5].map((at) => nearestPair(pairs, 'right', at))).toEqual([0, 1, 2]);
});

test('a place finds its pair: a difference, or the stretch in which they are together again', () => {
  const at = (left: number | null, right: number | null) =>
    pairs.findIndex((pair) =>
      isAtPlace(pair, { left: left === null ? null : seq(left), right: right === null ? null : seq(right) }),
    );
  expect([at(null, 4), at(4, 5), at(2, 2), at(9, 9)]).toEqual([1, 2, 0, -1]);
});
