import { expect, test } from 'vitest';
import { seq } from '../../../src/core/point.ts';
import { branchLines } from './branch-lines.ts';

test('a branch begins where it was forked and ends at its head', () => {
  const rows = [
    { branch: 'main', parent: null, head: seq(10) },
    { branch: 'a', parent: { branch: 'main', seq: seq(5) }, head: seq(20) },
    { branch: 'b', parent: { branch: 'gone', seq: seq(5) }, head: seq(8) },
  ];
  expect(branchLines(rows, 20)).toEqual([
    { from: 0, to: 0.5, parentRow: undefined },
    { from: 0.25, to: 1, parentRow: 0 },
    { from: 0.25, to: 0.4, parentRow: undefined },
  ]);
});
