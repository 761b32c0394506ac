import { expect, test } from 'vitest';
import { seq } from '../../../src/core/point.ts';
import { forksOf } from './use-branches.ts';

const fork = (branch: string, parent: string, at: number) => ({ branch, parent: { branch: parent, seq: seq(at) } });
const branches = [
  { branch: 'main', parent: null },
  fork('a', 'main', 5),
  fork('b', 'main', 9),
  fork('c', 'a', 7),
  fork('d', 'a', 3),
];

test('forks of a branch are those from itself and from what it shares with its ancestors', () => {
  expect(forksOf(branches, 'main')).toEqual([
    { seq: 5, branch: 'a' },
    { seq: 9, branch: 'b' },
  ]);
  expect(forksOf(branches, 'a')).toEqual([
    { seq: 3, branch: 'd' },
    { seq: 7, branch: 'c' },
  ]);
  expect(forksOf(branches, 'b')).toEqual([{ seq: 5, branch: 'a' }]);
});
