import { expect, test } from 'vitest';
import { nearestNames } from './nearest-names.ts';

test('names with swapped, missing and added letters are near, others are not', () => {
  const names = ['long-day', 'refund', 'refund-2', 'hostile'];
  expect(nearestNames('refnud', names)).toEqual(['refund', 'refund-2']);
  expect(nearestNames('longday', names)).toEqual(['long-day']);
  expect(nearestNames('xyz', names)).toEqual([]);
});

test('five names at most, the nearest first', () => {
  const names = Array.from({ length: 40 }, (_, number) => `run-${number}`);
  expect(nearestNames('run-7', names)).toHaveLength(5);
  expect(nearestNames('run-7', names)[0]).toBe('run-7');
});
