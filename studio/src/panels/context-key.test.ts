import { expect, test } from 'vitest';
import { contextKey } from './context-key.ts';

const point = { namespace: 'default', session: 'refund', branch: 'main', seq: 3 };

test('the context of a call is asked for again when the call has ended', () => {
  const calls = (end: number | undefined) => ({ callOf: () => 3, endOf: () => end });
  expect(contextKey(point, calls(undefined), undefined)).not.toBe(contextKey(point, calls(4), undefined));
  expect(contextKey(point, calls(4), undefined)).toBe(contextKey(point, calls(4), undefined));
});
