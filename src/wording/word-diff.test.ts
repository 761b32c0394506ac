import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearDifferences, type WordRun, wordRuns } from './word-diff.ts';

const shown = (runs: readonly WordRun[]): string =>
  runs.map(({ kind, text }) => (kind === 'same' ? text : kind === 'left' ? `[-${text}-]` : `{+${text}+}`)).join('');

test('removed words and added words are marked', () => {
  expect(shown(wordRuns('Please refund it.', 'Please look it up.'))).toBe('Please [-refund-]{+look+} it{+ up+}.');
  expect(shown(wordRuns('same', 'same'))).toBe('same');
  expect(shown(wordRuns('', 'new'))).toBe('{+new+}');
  expect(shown(wordRuns('日本 語', '日本 人'))).toBe('日本 [-語-]{+人+}');
});

test('both texts can be put together again from the runs', () => {
  const words = fc.array(fc.constantFrom('a', 'b', 'c', ' ', '\n', '語', '.'), { maxLength: 40 });
  fc.assert(
    fc.property(words, words, (left, right) => {
      const runs = wordRuns(left.join(''), right.join(''));
      const of = (kind: string): string =>
        runs.map((run) => (run.kind === 'same' || run.kind === kind ? run.text : '')).join('');
      expect([of('left'), of('right')]).toEqual([left.join(''), right.join('')]);
    }),
  );
});

test('long texts that differ in one word are still told apart by that word', () => {
  const long = 'word '.repeat(100_000);
  const runs = nearDifferences(wordRuns(`${long}left ${long}`, `${long}right ${long}`));
  expect(runs.map(({ kind }) => kind)).toEqual(['same', 'left', 'right', 'same']);
  expect(shown(runs).length).toBeLessThan(200);
});

test('long texts with nothing in common differ as a whole', () => {
  // Compared word by word, this would be 10,000,000,000 comparisons.
  const runs = wordRuns('a b '.repeat(50_000), 'c d '.repeat(50_000));
  expect(runs.map(({ kind }) => kind)).toEqual(['left', 'right', 'same']);
});
