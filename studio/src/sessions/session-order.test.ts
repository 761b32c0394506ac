import { expect, test } from 'vitest';
import type { SessionRow } from '../source/answers.ts';
import { readOrder, sortSessions, withOrder } from './session-order.ts';

const row = (session: string, durationMs: number | null): SessionRow =>
  ({ session, title: null, durationMs }) as unknown as SessionRow;

test('the order is a word of the list, and a column goes from down to up to none', () => {
  expect(readOrder('agent=support sort=-cost')).toEqual({ by: 'cost', isDown: true });
  expect(readOrder('sort=color')).toBeUndefined();
  expect(withOrder('agent=support', 'cost')).toBe('agent=support sort=-cost');
  expect(withOrder('agent=support sort=-cost', 'cost')).toBe('agent=support sort=cost');
  expect(withOrder('sort=cost refund', 'cost')).toBe('refund');
  expect(withOrder('sort=cost refund', 'took')).toBe('refund sort=-took');
});

test('sessions without a value come last, whichever way', () => {
  const rows = [row('a', null), row('b', 5), row('c', 9), row('d', 5)];
  const names = (isDown: boolean) => sortSessions(rows, { by: 'took', isDown }).map(({ session }) => session);
  expect([names(true), names(false)]).toEqual([
    ['c', 'b', 'd', 'a'],
    ['b', 'd', 'c', 'a'],
  ]);
});
