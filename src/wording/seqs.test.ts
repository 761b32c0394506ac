import { expect, test } from 'vitest';
import { seqsText } from './seqs.ts';

test.each([
  [[], 'nothing'],
  [[5], '@5'],
  [[6, 5], '@5, @6'],
  [[5, 6, 7], '@5…@7'],
  [[1, 5, 6, 7, 8], '@1, @5…@8 (5 events)'],
])('seqs %j are read as %s', (seqs, text) => {
  expect(seqsText(seqs)).toBe(text);
});

test('a long list is cut in the middle', () => {
  const seqs = Array.from({ length: 40 }, (_, index) => index * 2 + 1);
  expect(seqsText(seqs)).toBe('@1, @3, @5, @7, @9, @11, @13 … @79 (40 events)');
});
