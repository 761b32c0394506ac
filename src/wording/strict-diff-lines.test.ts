import { describe, expect, test } from 'vitest';
import { diffStrictly, type StrictEvent } from '../core/comparing/diff-strict.ts';
import type { Seq } from '../core/point.ts';
import { strictDiffLines } from './strict-diff-lines.ts';

function history(types: string): StrictEvent[] {
  const list = types.split(' ').filter((type) => type !== '');
  return list.map((type, index) => ({ seq: (1 + index) as Seq, type, text: `says ${type}` }));
}

describe('strictDiffLines()', () => {
  test('says that two histories are identical', () => {
    const diff = diffStrictly(history('a'), history('a'), { left: 'x/main', right: 'x/b' });
    expect(strictDiffLines(diff)).toEqual(['diff x/main vs x/b', 'matched: 1', '✓ identical']);
  });

  test('lists mismatches and tails, ten of each, with what each event says', () => {
    const left = history(`a ${'b '.repeat(12)}${'t '.repeat(12)}`);
    const lines = strictDiffLines(diffStrictly(left, history(`a ${'c '.repeat(12)}`)));
    expect(lines.slice(0, 5)).toEqual([
      'diff left vs right',
      'matched: 1',
      'diverged at seq 2',
      'type mismatches: 12',
      '  [2] b → c',
    ]);
    expect(lines).toHaveLength(4 + 10 + 1 + 10);
    expect(lines[14]).toBe('only left: 12');
    expect(lines[15]).toBe('  [14] t: says t');
  });

  test('cuts long texts and keeps to the limit', () => {
    const left: StrictEvent[] = [{ seq: 1 as Seq, type: 'a', text: 'x'.repeat(200) }];
    const diff = diffStrictly(left, []);
    expect(strictDiffLines(diff).at(-1)).toBe(`  [1] a: ${'x'.repeat(80)}`);
    expect(strictDiffLines(diff, 2)).toHaveLength(2);
    const tails = diffStrictly(history('a '.repeat(30)), history(`${'b '.repeat(15)}`));
    expect(strictDiffLines(tails, 40).length).toBeLessThanOrEqual(40);
  });
});
