import { expect, test } from 'vitest';
import { seq } from '../core/point.ts';
import { divergenceLines, verdictText } from './diff-verdict.ts';

const counts = { matched: 1_204, changed: 1, onlyLeft: 2, onlyRight: 0 };
const at = (left: number | null, right: number | null) => ({
  left: left === null ? null : seq(left),
  right: right === null ? null : seq(right),
});

test('verdictText() counts every kind of pair', () => {
  expect(verdictText({ identical: false, ...counts })).toBe(
    'Different: 1,204 equal, 1 changed, 2 only left, 0 only right.',
  );
  expect(verdictText({ identical: true, ...counts, matched: 1 })).toBe('The same: 1 event with the same behavior.');
});

test('divergenceLines() says what two histories share, where they differ, and where they part for good', () => {
  const forkPoint = { branch: 'a/b', seq: seq(2) };
  expect(divergenceLines({ forkPoint, divergedAt: null, sustainedAt: null })).toEqual([
    'They share everything up to a%2Fb@2.',
  ]);
  expect(divergenceLines({ forkPoint: null, divergedAt: at(3, null), sustainedAt: at(3, null) })).toEqual([
    'They have no shared history.',
    'They first differ at @3 on the left and the end on the right.',
  ]);
  expect(divergenceLines({ forkPoint, divergedAt: at(3, 4), sustainedAt: at(9, 8) })[1]).toBe(
    'They first differ at @3 on the left and @4 on the right. They part for good at @9 on the left and @8 on the right.',
  );
  expect(divergenceLines({ forkPoint, divergedAt: at(3, 4), sustainedAt: null })[1]).toContain('come back together');
});
