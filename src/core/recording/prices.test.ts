import { expect, test } from 'vitest';
import { checkPrices, costOf, knownPrices } from './prices.ts';

test('the cost is that of input and output tokens, by the million', () => {
  expect(costOf({ m: { input: 2, output: 8 } }, 'm', { inputTokens: 1_000, outputTokens: 500 })).toBe(0.006);
  expect(costOf({ m: { input: 0, output: 0 } }, 'm', { inputTokens: 1_000, outputTokens: 500 })).toBe(0);
});

test('cached tokens are part of the input and have their own price, or that of input', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0, cachedInputTokens: 600_000, cacheWriteTokens: 100_000 };
  expect(costOf({ m: { input: 10, output: 1, cachedInput: 1, cacheWrite: 12.5 } }, 'm', usage)).toBe(4.85);
  expect(costOf({ m: { input: 10, output: 1 } }, 'm', usage)).toBe(10);
});

test('an unknown price or unknown tokens give no cost, never zero', () => {
  expect(costOf(knownPrices, 'made-up-9', { inputTokens: 1, outputTokens: 1 })).toBeUndefined();
  expect(costOf(knownPrices, 'constructor', { inputTokens: 1, outputTokens: 1 })).toBeUndefined();
  expect(costOf(knownPrices, 'gpt-4o', { inputTokens: 1 })).toBeUndefined();
  expect(costOf(knownPrices, 'gpt-4o', { outputTokens: 1 })).toBeUndefined();
  expect(costOf(knownPrices, 'gpt-4o', { inputTokens: Number.NaN, outputTokens: 1 })).toBeUndefined();
});

test('a model is found with its provider before it or a date after it, and a longer name is another model', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0 };
  for (const name of ['gpt-4o', 'openai/gpt-4o', 'gpt-4o-2024-08-06', 'openrouter/openai/gpt-4o-latest'])
    expect(costOf(knownPrices, name, usage)).toBe(2.5);
  expect(costOf(knownPrices, 'claude-sonnet-4-5-20250929', usage)).toBe(3);
  expect(costOf(knownPrices, 'gpt-4o-mini', usage)).toBe(0.15);
  expect(costOf(knownPrices, 'gpt-4o-audio-preview', usage)).toBeUndefined();
  expect(costOf({ 'openai/gpt-4o': { input: 9, output: 9 }, ...knownPrices }, 'openai/gpt-4o', usage)).toBe(9);
});

test('a table of prices is checked, and what is wrong is named', () => {
  expect(checkPrices(knownPrices)).toBe(knownPrices);
  const wrong = (value: unknown) => () => checkPrices(value);
  expect(wrong([])).toThrow(expect.objectContaining({ code: 'config.invalid', details: { field: 'prices' } }));
  expect(wrong({ m: { input: 1 } })).toThrow(/"output" of "m"/);
  expect(wrong({ m: { input: -1, output: 1 } })).toThrow(/"input" of "m"/);
  expect(wrong({ m: { input: 1, output: 1, cachedInput: 'x' } })).toThrow(/"cachedInput" of "m"/);
});

test.each([
  ['gpt-5-codex', 1.25],
  ['gpt-5.1-codex', 1.25],
  ['gpt-5.4', 2.5],
  ['gpt-3.5-turbo-0125', 0.5],
  ['claude-sonnet-4-0', 3],
])('%s, which transcripts name, has a price', (model, dollars) => {
  expect(costOf(knownPrices, model, { inputTokens: 1_000_000, outputTokens: 0 })).toBe(dollars);
});
