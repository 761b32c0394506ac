import { expect, test } from 'vitest';
import { filterOf, timeOf } from './filter-options.ts';

test('every option becomes its condition, and what is not given is not there', () => {
  expect(filterOf({})).toEqual({});
  expect(
    filterOf({
      filter: 'name=ref,und=a\\,b',
      eventType: 'call.started, call.ended',
      agent: '~sup',
      run: 'r',
      turn: 0,
      kind: 'tool',
      tool: 'refund',
      outcome: 'error',
      search: 'x',
      since: '2026-11-15',
      until: '2026-11-15T10:00:00Z',
      after: 0,
      through: 9,
    }),
  ).toEqual({
    fields: [
      { key: 'name', pattern: 'ref' },
      { key: 'und', pattern: 'a,b' },
    ],
    types: ['call.started', 'call.ended'],
    agent: '~sup',
    run: 'r',
    turn: 0,
    kind: 'tool',
    name: 'refund',
    outcome: 'error',
    text: 'x',
    since: '2026-11-15T00:00:00.000Z',
    until: '2026-11-15T10:00:00.000Z',
    after: 0,
    through: 9,
  });
});

test('a time may be written as how long ago it was', () => {
  const now = Date.parse('2026-11-15T10:00:00Z');
  expect(timeOf('90s', now)).toBe('2026-11-15T09:58:30.000Z');
  expect(timeOf('2h', now)).toBe('2026-11-15T08:00:00.000Z');
  expect(timeOf('1w', now)).toBe('2026-11-08T10:00:00.000Z');
  expect(timeOf(undefined, now)).toBeUndefined();
  expect(() => timeOf('yesterday', now)).toThrow(/Cannot read "yesterday" as a time/);
});
