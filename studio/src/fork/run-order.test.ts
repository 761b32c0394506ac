import { expect, test } from 'vitest';
import { emptyDraft, setAside } from './draft.ts';
import { orderOf } from './run-order.ts';

const edits = [{ kind: 'system', text: 'Look it up' }] as const;

test('a draft becomes the order of a run, and what is not given is not there', () => {
  expect(
    orderOf({ ...emptyDraft, edits, name: 'careful', reason: 'guessed', agent: 'demo', simulate: ['refund'] }, 'fork'),
  ).toEqual({
    kind: 'fork',
    agent: 'demo',
    reason: 'guessed',
    simulate: ['refund'],
    budget: { modelCalls: 20, costUsd: 1 },
    timeoutMs: 600_000,
    edits,
    name: 'careful',
  });
  expect(orderOf({ ...emptyDraft, modelCalls: '', costUsd: 'x', minutes: '-1' }, 'fork')).toEqual({
    kind: 'fork',
    edits: [],
  });
});

test('trying a run again takes its settings, and no edits', () => {
  expect(
    orderOf({ ...emptyDraft, edits, name: 'again', agent: 'demo', modelCalls: '', costUsd: '', minutes: '' }, 'retry'),
  ).toEqual({ kind: 'retry', agent: 'demo', name: 'again' });
});

test('going on takes the prompt, an experiment compares with the original', () => {
  const draft = { ...emptyDraft, modelCalls: '', costUsd: '', minutes: '' };
  expect(orderOf({ ...draft, edits: [{ kind: 'prompt', text: 'And now?' }] }, 'resume')).toEqual({
    kind: 'resume',
    prompt: 'And now?',
  });
  expect(orderOf({ ...draft, edits, repeats: '3' }, 'experiment')).toEqual({
    kind: 'experiment',
    variants: [{ name: 'as-it-was' }, { name: 'edited', edits }],
    repeats: 3,
  });
});

test('an experiment has a check, and as many variants as were set aside, each with a name of its own', () => {
  const draft = { ...emptyDraft, modelCalls: '', costUsd: '', minutes: '', expects: 'refunded 50' };
  const other = [{ kind: 'model', model: 'large-1' }] as const;
  expect(orderOf({ ...setAside({ ...draft, edits }), edits: other }, 'experiment')).toEqual({
    kind: 'experiment',
    variants: [{ name: 'as-it-was' }, { name: 'edited', edits }, { name: 'edited-2', edits: other }],
    repeats: 5,
    expects: 'refunded 50',
  });
});
