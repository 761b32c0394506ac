import { isObject, type JsonObject } from '../json.ts';

/** Tokens and money that calls took. It is JSON, so that a projection can keep it. */
export interface Spending {
  inputTokens: number;
  outputTokens: number;
  /** In US dollars, of the calls whose price is known; null while no price is known. */
  cost: number | null;
  /** Model calls that ended without a price: `cost` does not hold what they took. */
  unpricedCalls: number;
}

/** Nothing spent, no price known. */
export function createSpending(): Spending {
  return { inputTokens: 0, outputTokens: 0, cost: null, unpricedCalls: 0 };
}

/** Adds what the end of a call says it took. An answer from the record took nothing. */
export function spend(spending: Spending, ended: JsonObject): void {
  if (ended['reused'] === true) return;
  const { usage, cost, kind } = ended;
  if (isObject(usage)) {
    spending.inputTokens += countOf(usage['inputTokens']);
    spending.outputTokens += countOf(usage['outputTokens']);
  }
  if (typeof cost === 'number') spending.cost = roundDollars((spending.cost ?? 0) + cost);
  else if (kind === 'model') spending.unpricedCalls++;
}

const countOf = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

/** Sums of decimal fractions drift in binary; a billionth of a dollar is nobody's price. */
const roundDollars = (value: number): number => Math.round(value * 1e9) / 1e9;
