import { describe, expect, test } from 'vitest';
import { limits } from '../limits.ts';
import { bothChecked, checkedFrom } from './check-answer.ts';

describe('checkedFrom()', () => {
  test.each([
    [true, { passed: true, scores: {}, reason: null }],
    [false, { passed: false, scores: {}, reason: null }],
    [0.5, { passed: null, scores: { score: 0.5 }, reason: null }],
    [
      { brief: 1, kind: 0.2 },
      { passed: null, scores: { brief: 1, kind: 0.2 }, reason: null },
    ],
    [
      { passed: false, reason: 'too long' },
      { passed: false, scores: {}, reason: 'too long' },
    ],
    [
      { passed: true, scores: { brief: 1 } },
      { passed: true, scores: { brief: 1 }, reason: null },
    ],
  ])('reads %j', (answer, expected) => {
    expect(checkedFrom(answer)).toEqual(expected);
  });

  test.each([
    [undefined],
    [null],
    ['yes'],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [{}],
    [[]],
    [{ brief: 'very' }],
    [{ passed: 'yes' }],
    [{ passed: true, note: 'x' }],
    [{ passed: true, scores: { brief: Number.NaN } }],
    [{ passed: true, scores: 3 }],
    [{ passed: true, reason: 3 }],
  ])('refuses %j, which is neither a pass nor a failure', (answer) => {
    expect(() => checkedFrom(answer)).toThrow(expect.objectContaining({ code: 'check.invalid' }));
  });

  test('refuses more than scoresMax scores', () => {
    const scores = Object.fromEntries(Array.from({ length: limits.scoresMax + 1 }, (_, index) => [`s${index}`, 1]));
    expect(() => checkedFrom(scores)).toThrow(expect.objectContaining({ code: 'limit.exceeded' }));
  });
});

test('bothChecked() passes what nothing says has failed', () => {
  const said = (passed: boolean | null, reason: string | null = null) => ({ passed, scores: {}, reason });
  expect(bothChecked(said(true), said(null)).passed).toBe(true);
  expect(bothChecked(said(true), said(false)).passed).toBe(false);
  expect(bothChecked(said(null), said(null)).passed).toBeNull();
  expect(bothChecked(said(false, 'a'), said(false, 'b')).reason).toBe('a; b');
});
