import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { createSpending, type Spending, spend } from './spending.ts';

function spent(...ends: readonly JsonObject[]): Spending {
  const spending = createSpending();
  for (const ended of ends) spend(spending, ended);
  return spending;
}

test('an unknown price stays unknown and is counted', () => {
  const model = { kind: 'model', usage: { inputTokens: 10, outputTokens: 2 } };
  expect(spent(model)).toEqual({ inputTokens: 10, outputTokens: 2, cost: null, unpricedCalls: 1 });
  expect(spent(model, { ...model, cost: 0.25 })).toMatchObject({ cost: 0.25, unpricedCalls: 1 });
});

test('a price of nothing is a price', () => {
  expect(spent({ kind: 'model', cost: 0 })).toMatchObject({ cost: 0, unpricedCalls: 0 });
});

test('a tool without a price is not a call whose price is missing', () => {
  expect(spent({ kind: 'tool' })).toMatchObject({ cost: null, unpricedCalls: 0 });
});

test('an answer from the record took nothing', () => {
  expect(spent({ kind: 'model', reused: true, cost: 1, usage: { inputTokens: 9 } })).toEqual(createSpending());
});

test('sums do not drift', () => {
  expect(spent(...Array.from({ length: 10 }, () => ({ kind: 'model', cost: 0.1 }))).cost).toBe(1);
});

test('usage that makes no sense counts as none', () => {
  expect(spent({ kind: 'tool', usage: { inputTokens: -5, outputTokens: 'many' } })).toMatchObject({
    inputTokens: 0,
    outputTokens: 0,
  });
});
