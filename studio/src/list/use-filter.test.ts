import { expect, test } from 'vitest';
import { remembered } from './use-filter.ts';

test('an event is judged once, and one beyond the head each time', () => {
  const asked: number[] = [];
  const isMatch = remembered((seq) => {
    asked.push(seq);
    return seq % 2 === 0;
  }, 3);
  expect([1, 2, 1, 2, 4, 4].map(isMatch)).toEqual([false, true, false, true, true, true]);
  expect(asked).toEqual([1, 2, 4, 4]);
});
