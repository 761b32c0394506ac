import { expect, test } from 'vitest';
import { PixelColumns } from './pixel-columns.ts';

test('events in one column are one mark, the largest value wins, and columns that show the same are one stretch', () => {
  const columns = new PixelColumns(3, 4, 20);
  for (const pixel of [0, 1, 2.5, 4, 12]) columns.mark(3, pixel, 5);
  columns.mark(3, 3, 9);
  columns.mark(3, 2, 5);
  columns.mark(4, 0, 5);
  expect(columns.runs()).toEqual(
    new Map([
      [
        5,
        [
          { row: 3, from: 0, to: 0 },
          { row: 3, from: 2, to: 2 },
          { row: 3, from: 6, to: 6 },
          { row: 4, from: 0, to: 0 },
        ],
      ],
      [9, [{ row: 3, from: 1, to: 1 }]],
    ]),
  );
});

test('marks outside the rows and the width are left out', () => {
  const columns = new PixelColumns(1, 1, 10);
  for (const [row, pixel] of [
    [0, 1],
    [2, 1],
    [1, -1],
    [1, 10],
  ] as const)
    columns.mark(row, pixel, 1);
  expect(columns.runs().size).toBe(0);
});
