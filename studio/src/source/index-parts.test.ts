import { expect, test } from 'vitest';
import { stretchesOutside } from './index-parts.ts';

test('what no piece of a view holds has left it', () => {
  expect(stretchesOutside([[1, 9]], 9)).toEqual([]);
  expect(
    stretchesOutside(
      [
        [1, 3],
        [9, 9],
        [5, 5],
      ],
      10,
    ),
  ).toEqual([
    [4, 4],
    [6, 8],
    [10, 10],
  ]);
  expect(
    stretchesOutside(
      [
        [5, 9],
        [1, 6],
      ],
      9,
    ),
  ).toEqual([]);
  expect(stretchesOutside([], 2)).toEqual([[1, 2]]);
});
