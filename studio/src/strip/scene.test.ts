import { expect, test } from 'vitest';
import { overviewPixel, pixelOf, scrollShowing, size } from './scene.ts';
import { wholeView } from './viewport.ts';

const groups = [
  { agent: 'a', firstRow: 0, rows: 4, wholeRows: 4, folded: false },
  { agent: 'b', firstRow: 4, rows: 2, wholeRows: 2, folded: false },
  { agent: 'c', firstRow: 6, rows: 9, wholeRows: 9, folded: false },
];
const shown = (scroll: number, row: number): number =>
  scrollShowing(scroll * size.lane, {
    rows: { groups } as never,
    frame: { lanesHeight: 5 * size.lane } as never,
    row,
  }) / size.lane;

test('lanes are scrolled as little as needed to show those of an agent, and from their top if they are too many', () => {
  expect(shown(0, 2)).toBe(0);
  expect(shown(0, 4)).toBe(1);
  expect(shown(3, 1)).toBe(0);
  expect(shown(0, 10)).toBe(6);
  expect(shown(2, 99)).toBe(2);
});

test('where everything is on screen, an event stands below its mark on the overview', () => {
  const scene = { positions: { total: 1_000 } as never, width: 1_280 };
  expect(overviewPixel(scene, 640)).toBe(pixelOf({ view: wholeView(1_000), width: 1_280 }, 640));
});
