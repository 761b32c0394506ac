import { expect, test } from 'vitest';
import { agoText } from './ago-text.ts';

test('an age is as precise as it is useful', () => {
  const now = Date.parse('2026-11-16T10:00:00Z');
  expect([5_000, 120_000, 7_300_000, 3 * 86_400_000].map((ms) => agoText(now - ms, now))).toEqual([
    'just now',
    '2 min ago',
    '2 h ago',
    '3 d ago',
  ]);
});
