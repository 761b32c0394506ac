import type { Belief } from './belief.ts';

/** Returns true if a claim is the later of two: in the story, and of one turn in the log. */
export function isLater(claim: Belief, other: Belief): boolean {
  const [existing, added] = inLogOrder(claim, other);
  return (added.turn >= existing.turn ? added : existing) === claim;
}

/** Returns two claims in their order in the log: the existing one and the added one. */
export function inLogOrder(one: Belief, two: Belief): readonly [existing: Belief, added: Belief] {
  return one.seq < two.seq ? [one, two] : [two, one];
}
