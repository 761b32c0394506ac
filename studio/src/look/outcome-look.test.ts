import { expect, test } from 'vitest';
import { lookOfRun } from './outcome-look.ts';

test('a run without an end is running, then silent, then without an end', () => {
  const began = '2026-01-14T01:00:00.000Z';
  const after = (ms: number) => lookOfRun({ outcome: 'silent', silentSince: began }, Date.parse(began) + ms).word;
  expect([after(1_000), after(240_000), after(86_400_000 * 300)]).toEqual([
    'running',
    'silent for 4m 00s',
    'no end recorded',
  ]);
  expect(lookOfRun({ outcome: 'ok', silentSince: null }, 0).word).toBe('ok');
});
