import { RepriseError } from '../error.ts';
import { isObject } from '../json.ts';
import type { Usage } from './recorder.ts';

/** The price of a model in US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** For input tokens read from the provider's cache; the price of input if left out. */
  readonly cachedInput?: number;
  /** For input tokens written to the provider's cache; the price of input if left out. */
  readonly cacheWrite?: number;
}

/**
 * Prices by model id. An id is looked up as it is, then without the part before a slash (`openai/gpt-5`), then without
 * a date at its end (`gpt-5-2025-08-07`).
 */
export type PriceTable = Readonly<Record<string, Price>>;

/** Returns a price whose cache costs a tenth of the input to read and a quarter more to write. */
const cached = (input: number, output: number): Price => ({
  input,
  output,
  cachedInput: round(input / 10),
  cacheWrite: round(input * 1.25),
});

/**
 * List prices of well-known models, as published in 2025 and 2026. Prices change, contracts differ, and some models cost
 * more for a very long prompt: give your own table for figures you rely on. A model that is not listed has no price, which
 * is not the same as a price of zero.
 *
 * @example
 * ```ts
 * const prices = { ...knownPrices, 'house-model': { input: 0.2, output: 0.8 } };
 * console.log(costOf(prices, 'house-model', { inputTokens: 1_000_000, outputTokens: 500_000 })); // 0.6
 * ```
 */
export const knownPrices: PriceTable = {
  'claude-3-5-haiku': cached(0.8, 4),
  'claude-3-5-sonnet': cached(3, 15),
  'claude-3-7-sonnet': cached(3, 15),
  'claude-haiku-4-5': cached(1, 5),
  'claude-opus-4': cached(15, 75),
  'claude-opus-4-1': cached(15, 75),
  'claude-opus-4-5': cached(5, 25),
  'claude-opus-4-6': cached(5, 25),
  'claude-opus-4-7': cached(5, 25),
  'claude-sonnet-4': cached(3, 15),
  'claude-sonnet-4-0': cached(3, 15),
  'claude-sonnet-4-5': cached(3, 15),
  'claude-sonnet-4-6': cached(3, 15),
  'gemini-2.0-flash': { input: 0.1, output: 0.4, cachedInput: 0.025 },
  'gemini-2.5-flash': { input: 0.3, output: 2.5, cachedInput: 0.03 },
  'gemini-2.5-flash-lite': { input: 0.1, output: 0.4, cachedInput: 0.01 },
  'gpt-3.5-turbo': { input: 0.5, output: 1.5 },
  'gpt-3.5-turbo-0125': { input: 0.5, output: 1.5 },
  'gpt-4.1': { input: 2, output: 8, cachedInput: 0.5 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6, cachedInput: 0.1 },
  'gpt-4.1-nano': { input: 0.1, output: 0.4, cachedInput: 0.025 },
  'gpt-4o': { input: 2.5, output: 10, cachedInput: 1.25 },
  'gpt-4o-mini': { input: 0.15, output: 0.6, cachedInput: 0.075 },
  'gpt-5': { input: 1.25, output: 10, cachedInput: 0.125 },
  'gpt-5-codex': { input: 1.25, output: 10, cachedInput: 0.125 },
  'gpt-5-mini': { input: 0.25, output: 2, cachedInput: 0.025 },
  'gpt-5-nano': { input: 0.05, output: 0.4, cachedInput: 0.005 },
  'gpt-5.1': { input: 1.25, output: 10, cachedInput: 0.125 },
  'gpt-5.1-codex': { input: 1.25, output: 10, cachedInput: 0.125 },
  'gpt-5.4': { input: 2.5, output: 15, cachedInput: 0.25 },
  o3: { input: 2, output: 8, cachedInput: 0.5 },
  'o4-mini': { input: 1.1, output: 4.4, cachedInput: 0.275 },
};

/**
 * Returns the cost of a call in US dollars; undefined if the price or the tokens are not known.
 *
 * @example
 * ```ts
 * costOf(knownPrices, 'gpt-4o', { inputTokens: 1_000, outputTokens: 100 }); // 0.0035
 * costOf(knownPrices, 'a-new-model', { inputTokens: 1_000, outputTokens: 100 }); // undefined
 * ```
 */
export function costOf(prices: PriceTable, model: string, usage: Usage): number | undefined {
  const price = priceOf(prices, model);
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  if (price === undefined || inputTokens === undefined || outputTokens === undefined) return undefined;
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  const sum =
    plain * price.input +
    cachedInputTokens * (price.cachedInput ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  return Number.isFinite(sum) ? round(sum / 1_000_000) : undefined;
}

/** Takes a value as a table of prices, or throws `config.invalid` with the model. */
export function checkPrices(value: unknown): PriceTable {
  if (!isObject(value)) return refuse('they are not an object', 'prices');
  for (const [model, price] of Object.entries(value)) {
    const given = isObject(price) ? price : {};
    const other = Object.keys(given).find((name) => !priceFields.includes(name));
    if (other !== undefined) refuse(`"${model}" has no "${other}"`, `prices.${model}.${other}`);
    for (const name of priceFields) {
      const isNeeded = name === 'input' || name === 'output';
      if (given[name] === undefined && !isNeeded) continue;
      const dollars = given[name];
      if (typeof dollars !== 'number' || !(dollars >= 0))
        refuse(`"${name}" of "${model}" is not a number of dollars`, `prices.${model}.${name}`);
    }
  }
  return value as unknown as PriceTable;
}

const priceFields: readonly string[] = ['input', 'output', 'cachedInput', 'cacheWrite'];

function refuse(why: string, field: string): never {
  throw new RepriseError('config.invalid', `Cannot use the prices: ${why}`, {
    hint: 'Write a price as { input, output, cachedInput?, cacheWrite? }, in US dollars per million tokens.',
    details: { field },
  });
}

function priceOf(prices: PriceTable, model: string): Price | undefined {
  const bare = model.slice(model.lastIndexOf('/') + 1);
  const undated = bare.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '');
  for (const name of [model, bare, undated]) if (Object.hasOwn(prices, name)) return prices[name];
  return undefined;
}

/** Rounds to a billionth of a dollar: decimal fractions drift in binary. */
function round(dollars: number): number {
  return Math.round(dollars * 1e9) / 1e9;
}
