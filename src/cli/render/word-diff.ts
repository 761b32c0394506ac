import { createAligner, tokensOf } from '../../core/diff-align.ts';

/** A stretch of words that both texts have, or that only one of them has. */
export interface WordRun {
  readonly kind: 'same' | 'left' | 'right';
  readonly text: string;
}

const wordsMax = 2_000;

/** Two texts as runs of words they share and words they do not; long texts are told apart as a whole. */
export function wordRuns(left: string, right: string): WordRun[] {
  const [a, b] = [wordsOf(left), wordsOf(right)];
  if (a.length > wordsMax || b.length > wordsMax) return [{ kind: 'left', text: left }, { kind: 'right', text: right }];
  const matches = new Int32Array(a.length).fill(-1);
  createAligner(tokensOf(a, b, (word) => word))({ left: [0, a.length], right: [0, b.length] }, matches);
  const runs: { kind: WordRun['kind']; text: string }[] = [];
  const add = (kind: WordRun['kind'], text: string): void => {
    const last = runs.at(-1);
    if (text === '') return;
    if (last?.kind === kind) last.text += text;
    else runs.push({ kind, text });
  };
  let r = 0;
  for (const [l, word] of a.entries()) {
    const match = matches[l] as number;
    if (match < 0) add('left', word);
    else {
      add('right', b.slice(r, match).join(''));
      add('same', word);
      r = match + 1;
    }
  }
  add('right', b.slice(r).join(''));
  return runs;
}

const wordsOf = (text: string): string[] => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
