import { type Claim, isSameValue } from './belief.ts';

/** Kinds of which a topic has one. Facts and constraints may stand together. */
const single: ReadonlySet<string> = new Set(['decision', 'calculation']);

/**
 * Returns true if two claims on one topic contradict each other: the checker that Reprise ships. Two decisions do if they
 * are not the same, and so do two calculations. Facts and constraints do if their numbers or booleans differ, or if one
 * says the opposite of the other in the same words. It is symmetric, and claims without a topic never contradict.
 *
 * @example
 * ```ts
 * contradicts({ topic: 'pool', kind: 'fact', claim: 'It is full' }, { topic: 'pool', kind: 'fact', claim: "It isn't full" }); // true
 * ```
 */
export function contradicts(left: Claim, right: Claim): boolean {
  if (left.topic === undefined || left.kind !== right.kind) return false;
  if (left.value !== undefined && right.value !== undefined) {
    if (single.has(left.kind) || (isPlain(left.value) && isPlain(right.value)))
      return !isSameValue(left.value, right.value);
  }
  const [mine, other] = [wordsOf(left.claim), wordsOf(right.claim)];
  if (mine.text === other.text) return mine.isNegated !== other.isNegated;
  return single.has(left.kind);
}

const isPlain = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';

const negations: ReadonlySet<string> = new Set(['not', 'no', 'never']);

function wordsOf(claim: string): { readonly text: string; readonly isNegated: boolean } {
  const words = claim
    .toLowerCase()
    .replace(/n[’']t\b/g, ' not')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const plain = words.filter((word) => !negations.has(word));
  return { text: plain.join(' '), isNegated: (words.length - plain.length) % 2 === 1 };
}
