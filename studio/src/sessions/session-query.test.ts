import { expect, test } from 'vitest';
import { readSessionQuery } from './session-query.ts';

const now = Date.parse('2026-11-16T10:00:00Z');

test('words of the list become its filter', () => {
  expect(readSessionQuery('', now)).toEqual({});
  expect(readSessionQuery('agent=~sup outcome=error since=2h broken mug', now)).toEqual({
    text: 'broken mug',
    agent: '~sup',
    outcome: 'error',
    since: '2026-11-16T08:00:00.000Z',
  });
  expect(readSessionQuery('outcome=running x=y', now)).toEqual({ outcome: 'silent', text: 'x=y' });
  expect(() => readSessionQuery('since=soon', now)).toThrow(/time/);
});
