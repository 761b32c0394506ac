import { expect, test } from 'vitest';
import { changeText } from './compare-usage.tsx';

test('a change is written as a part of the left side', () => {
  expect([changeText(100, 88), changeText(2, 3), changeText(0, 5)]).toEqual(['−12 %', '+50 %', 'new']);
  expect([changeText(4, 4), changeText(null, 4), changeText(4, null)]).toEqual(['', '', '']);
});
