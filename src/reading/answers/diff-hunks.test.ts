import { expect, test } from 'vitest';
import type { DiffPair } from '../../core/comparing/diff.ts';
import { pairHunks } from './diff-hunks.ts';

/** A dot is an equal pair, a letter a difference. */
function pairs(text: string): DiffPair[] {
  return text.split('').map((letter, index) => {
    const seq = (index + 1) as never;
    const kind = letter === '.' ? 'equal' : letter === '-' ? 'onlyLeft' : 'changed';
    return (
      kind === 'onlyLeft' ? { kind, type: 'x', left: seq } : { kind, type: 'x', left: seq, right: seq }
    ) as DiffPair;
  });
}

function shown(text: string, limit: number, around: number): string {
  return pairHunks(pairs(text), limit, around)
    .map(
      (hunk) =>
        `${hunk.equalBefore}:${hunk.pairs.map((pair) => ('left' in pair ? text[pair.left - 1] : '?')).join('')}`,
    )
    .join(' ');
}

test('differences that touch, or whose surroundings do, are one hunk', () => {
  expect(shown('...a...', 9, 1)).toBe('2:.a.');
  expect(shown('ab', 9, 1)).toBe('0:ab');
  expect(shown('a.b', 9, 1)).toBe('0:a.b');
  expect(shown('a..b', 9, 1)).toBe('0:a..b');
  expect(shown('a...b', 9, 1)).toBe('0:a. 1:.b');
  expect(shown('....a-b....c', 9, 2)).toBe('2:..a-b....c');
});

test('no more differences are shown than asked for, and none is shown as the surrounding of another', () => {
  expect(shown('..ab..c', 1, 1)).toBe('1:.a');
  expect(shown('..ab..c', 2, 1)).toBe('1:.ab.');
  expect(shown('..ab..c', 0, 1)).toBe('');
  expect(shown('....', 5, 1)).toBe('');
  expect(shown('a.....b', 1, 1)).toBe('0:a.');
});

test('all differences of a long history are shown once', () => {
  const text = Array.from({ length: 2_000 }, (_, index) => (index % 7 === 0 ? 'x' : '.')).join('');
  const hunks = pairHunks(pairs(text), Number.POSITIVE_INFINITY, 1);
  const seqs = hunks.flatMap((hunk) => hunk.pairs.map((pair) => ('left' in pair ? pair.left : 0)));
  expect(new Set(seqs).size).toBe(seqs.length);
  expect(hunks.flatMap((hunk) => hunk.pairs).filter((pair) => pair.kind !== 'equal')).toHaveLength(286);
});
