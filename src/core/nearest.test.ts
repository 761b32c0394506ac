import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

const names = ['list', 'replay', 'show', 'state', 'fork', 'revert', 'rewind', 'delete-session'];

test.each([
  ['lsit', 'list'],
  ['repaly', 'replay'],
  ['sate', 'state'],
  ['fokr', 'fork'],
  ['revret', 'revert'],
  ['delete', 'delete-session'],
  ['del', 'delete-session'],
])('%s is meant to be %s', (typed, meant) => {
  expect(nearest(typed, names)).toBe(meant);
});

test.each(['', 'x', 'banana', 'serve-the-whole-world'])('nothing is near enough to %j', (typed) => {
  expect(nearest(typed, names)).toBeUndefined();
});
