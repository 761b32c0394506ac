import { expect, test } from 'vitest';
import { panned, showing, wholeView, zoomed } from './viewport.ts';

test('zooming keeps the place under the pointer', () => {
  const view = zoomed({ from: 0, to: 100 }, 100, 0.5, 25);
  expect(view).toEqual({ from: 12.5, to: 62.5 });
  expect((25 - view.from) / (view.to - view.from)).toBe(0.25);
});

test('nothing zooms out further than everything, or in further than the closest', () => {
  expect(zoomed({ from: 10, to: 90 }, 100, 50, 50)).toEqual(wholeView(100));
  const close = zoomed({ from: 10, to: 90 }, 100, 1e-20, 50);
  expect(close.to - close.from).toBeCloseTo(1e-5);
});

test('panning stops at the ends', () => {
  expect(panned({ from: 10, to: 30 }, 100, 0.5)).toEqual({ from: 20, to: 40 });
  expect(panned({ from: 10, to: 30 }, 100, -9)).toEqual({ from: -1, to: 19 });
  expect(panned({ from: 10, to: 30 }, 100, 9)).toEqual({ from: 81, to: 101 });
});

test('a place that is on screen moves nothing, one that is near moves a little, one that is far comes to the middle', () => {
  const view = { from: 40, to: 60 };
  expect(showing(view, 100, 50)).toBe(view);
  const near = showing(view, 100, 65);
  expect(near.to - near.from).toBeCloseTo(20);
  expect(near.to).toBeCloseTo(66.2);
  expect(showing(view, 100, 10)).toEqual({ from: 0, to: 20 });
});
