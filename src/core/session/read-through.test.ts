import { expect, test } from 'vitest';
import { onwardFrom, type ReadThrough } from './read-through.ts';

const read: ReadThrough = { began: 'g', seq: 5, digest: 'd5', erasures: 0 };

test.each<[string, Partial<ReadThrough>]>([
  ['nothing', {}],
  ['more', { seq: 6, digest: 'd6' }],
  ['ahead', { seq: 4, digest: 'd4' }],
  // Another event at the same seq: the branch was made again.
  ['anew', { digest: 'e5' }],
  ['anew', { began: 'h', seq: 6, digest: 'd6' }],
  ['anew', { began: 'h', seq: 4, digest: 'd4' }],
  ['anew', { erasures: 1, seq: 6, digest: 'd6' }],
])('a reader does "%s" after %o', (onward, now) => {
  expect(onwardFrom(read, { ...read, ...now })).toBe(onward);
});

test('a reader that has read nothing begins anew', () => {
  expect(onwardFrom(undefined, read)).toBe('anew');
});
