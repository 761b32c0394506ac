import { expect, test } from 'vitest';
import { bytesText, costText, countText, durationText, offsetText, plural, priceText, timeText } from './amount.ts';

test('bytes have the unit that keeps them short', () => {
  const shown = [0, 999, 1000, 4_200, 99_960, 999_499, 999_500, 12_000_000, 5e12, 5e16].map(bytesText);
  expect(shown).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '4.2 kB',
    '100 kB',
    '999 kB',
    '1.0 MB',
    '12.0 MB',
    '5.0 TB',
    '50000 TB',
  ]);
});

test('counts have their thousands set apart, and their noun', () => {
  expect([0, 999, 1000, 1234567].map(countText)).toEqual(['0', '999', '1,000', '1,234,567']);
  expect([plural(1, 'event'), plural(0, 'event'), plural(2000, 'event')]).toEqual([
    '1 event',
    '0 events',
    '2,000 events',
  ]);
});

test('durations never show sixty of anything', () => {
  const shown = [
    0, 182.4, 999.6, 4_210, 59_949, 59_951, 187_000, 3_599_600, 7_500_000, 86_400_000, 273_600_000, -1_000,
  ];
  expect(shown.map(durationText)).toEqual([
    '0ms',
    '182ms',
    '1.0s',
    '4.2s',
    '59.9s',
    '1m 00s',
    '3m 07s',
    '1h 00m',
    '2h 05m',
    '1d 00h',
    '3d 04h',
    '-1.0s',
  ]);
});

test('offsets count from the start, and backwards for what was recorded late', () => {
  const start = '2026-11-15T10:00:00.000Z';
  expect(offsetText(start, '2026-11-15T10:00:00.182Z')).toBe('+0:00.182');
  expect(offsetText(start, '2026-11-15T10:12:03.000Z')).toBe('+12:03.000');
  expect(offsetText(start, '2026-11-15T12:02:03.004Z')).toBe('+2:02:03.004');
  expect(offsetText(start, '2026-11-15T09:59:59.000Z')).toBe('-0:01.000');
  expect(offsetText(start, '2026-11-15T10:00:59.990Z', 1)).toBe('+0:59.9');
});

test('prices show what a call costs, and a question mark where nobody knows', () => {
  expect([0, 0.00002, 0.00214, 0.5, 12.345, null, undefined].map(costText)).toEqual([
    '$0',
    '<$0.0001',
    '$0.0021',
    '$0.5000',
    '$12.35',
    '?',
    '?',
  ]);
  expect(timeText('2026-11-15T10:00:00.123Z')).toBe('2026-11-15 10:00:00');
});

test('a sum of prices says when calls without one come on top', () => {
  const told = [
    { cost: 0.5, unpricedCalls: 0 },
    { cost: 0.5, unpricedCalls: 1 },
    { cost: null, unpricedCalls: 1 },
    { cost: null, unpricedCalls: 0 },
  ].map((priced) => priceText(priced));
  expect(told).toEqual(['$0.5000', '$0.5000+', '?', '']);
});
