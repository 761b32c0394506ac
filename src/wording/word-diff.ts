import { createAligner, tokensOf } from '../core/comparing/diff-align.ts';

/** A run of words that both strings have, or that only one of them has. */
export interface WordRun {
  readonly kind: 'same' | 'left' | 'right';
  readonly text: string;
}

const wordsMax = 2_000;

/** Splits two strings into runs of shared and different words; very long differences are not split further. */
export function wordRuns(left: string, right: string): WordRun[] {
  const [a, b] = [wordsOf(left), wordsOf(right)];
  const before = sharedCount(a.length, b.length, (index) => a[index] === b[index]);
  const after = sharedCount(a.length - before, b.length - before, (index) => a.at(-1 - index) === b.at(-1 - index));
  const middles = [a.slice(before, a.length - after), b.slice(before, b.length - after)] as const;
  const runs = new RunList();
  runs.add('same', a.slice(0, before).join(''));
  if (middles[0].length > wordsMax || middles[1].length > wordsMax) {
    runs.add('left', middles[0].join(''));
    runs.add('right', middles[1].join(''));
  } else align(runs, ...middles);
  runs.add('same', after === 0 ? '' : a.slice(-after).join(''));
  return runs.list;
}

/** A list of runs that merges neighbors of the same kind. */
class RunList {
  readonly list: { kind: WordRun['kind']; text: string }[] = [];

  add(kind: WordRun['kind'], text: string): void {
    const last = this.list.at(-1);
    if (text === '') return;
    if (last?.kind === kind) last.text += text;
    else this.list.push({ kind, text });
  }
}

function align(runs: RunList, left: readonly string[], right: readonly string[]): void {
  const matches = new Int32Array(left.length).fill(-1);
  createAligner(tokensOf(left, right, (word) => word))({ left: [0, left.length], right: [0, right.length] }, matches);
  let r = 0;
  for (const [l, word] of left.entries()) {
    const match = matches[l] ?? -1;
    if (match < 0) runs.add('left', word);
    else {
      runs.add('right', right.slice(r, match).join(''));
      runs.add('same', word);
      r = match + 1;
    }
  }
  runs.add('right', right.slice(r).join(''));
}

function sharedCount(left: number, right: number, isShared: (index: number) => boolean): number {
  const end = Math.min(left, right);
  let count = 0;
  while (count < end && isShared(count)) count++;
  return count;
}

const wordsOf = (text: string): string[] => text.match(/\s+|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu) ?? [];

const nearLetters = 60;

/** Shortens shared runs to the words near a difference. */
export function nearDifferences(runs: readonly WordRun[]): WordRun[] {
  return runs.map((run, index) => {
    if (run.kind !== 'same' || run.text.length <= 2 * nearLetters + 20) return run;
    const head = index === 0 ? '' : run.text.slice(0, nearLetters);
    const tail = index === runs.length - 1 ? '' : run.text.slice(-nearLetters);
    return { kind: 'same', text: `${head}…${tail}` };
  });
}
