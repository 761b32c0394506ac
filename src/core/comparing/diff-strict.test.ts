/** The numbers are those of shipit's `diff_traces`, with seqs in place of indexes from 0. */
import { describe, expect, test } from 'vitest';
import type { Seq } from '../point.ts';
import { diffStrictly, type StrictEvent } from './diff-strict.ts';

function history(types: string, firstSeq = 1): StrictEvent[] {
  const list = types.split(' ').filter((type) => type !== '');
  return list.map((type, index) => ({ seq: (firstSeq + index) as Seq, type, text: `says ${type}` }));
}

const seqs = (events: readonly StrictEvent[]): number[] => events.map((event) => event.seq);

describe('diffStrictly()', () => {
  test('identical types match whatever they say', () => {
    const other = history('a b c').map((event) => ({ ...event, text: 'other' }));
    expect(diffStrictly(history('a b c'), other)).toMatchObject({
      identical: true,
      matched: 3,
      divergedAt: null,
      typeMismatches: [],
      onlyLeft: [],
      onlyRight: [],
    });
  });

  test('counts only the common prefix, also after the two come together again', () => {
    const diff = diffStrictly(history('a b c d'), history('a x c d'));
    expect(diff).toMatchObject({ identical: false, matched: 1, divergedAt: 2 });
    expect(diff.typeMismatches).toEqual([{ index: 1, left: 2, right: 2, leftType: 'b', rightType: 'x' }]);
  });

  test('every later place with different types is a mismatch', () => {
    const diff = diffStrictly(history('a b c d e'), history('a x c y e'));
    expect(diff.typeMismatches.map(({ left }) => left)).toEqual([2, 4]);
  });

  test('a longer left has a tail, and the two part where the right ends', () => {
    const diff = diffStrictly(history('a b c d'), history('a b'));
    expect(diff).toMatchObject({ identical: false, matched: 2, divergedAt: 3, typeMismatches: [] });
    expect([seqs(diff.onlyLeft), seqs(diff.onlyRight)]).toEqual([[3, 4], []]);
  });

  test('a longer right has a tail, and the seq is the right one', () => {
    const diff = diffStrictly(history('a b'), history('a b c', 1));
    expect(diff).toMatchObject({ identical: false, matched: 2, divergedAt: 3 });
    expect([seqs(diff.onlyLeft), seqs(diff.onlyRight)]).toEqual([[], [3]]);
  });

  test('seqs are those of the events, not positions', () => {
    expect(diffStrictly(history('a b', 10), history('a c', 20))).toMatchObject({
      divergedAt: 11,
      divergedIndex: 1,
      typeMismatches: [{ index: 1, left: 11, right: 21 }],
    });
  });

  test('two empty histories are identical, one empty history is not', () => {
    expect(diffStrictly([], []).identical).toBe(true);
    expect(diffStrictly([], history('a'))).toMatchObject({ identical: false, matched: 0, divergedAt: 1 });
  });

  test('refuses what is not a list of events', () => {
    expect(() => diffStrictly('a' as unknown as [], [])).toThrow(/left side is not a list/);
  });
});
