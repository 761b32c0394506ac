import { isObject, type JsonObject } from '../json.ts';

/** The tokens and the cost of calls. It is JSON, so that a projection can keep it. */
export interface Spending {
  inputTokens: number;
  outputTokens: number;
  /** The cost in US dollars of the calls with a known price; null while there is none. */
  cost: number | null;
  /** Model calls without a known price; `cost` does not include them. */
  unpricedCalls: number;
}

/** Returns a spending of nothing. */
export function createSpending(): Spending {
  return { inputTokens: 0, outputTokens: 0, cost: null, unpricedCalls: 0 };
}

/** Adds the tokens and the cost of a call from its end. An answer from the record costs nothing. */
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

/** Rounds to a billionth of a dollar: sums of decimal fractions drift in binary. */
const roundDollars = (value: number): number => Math.round(value * 1e9) / 1e9;
