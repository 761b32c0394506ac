import { given } from '../../../src/core/json.ts';
import type { EffectAction } from '../../../src/core/recording/effects.ts';
import type { RunOrder } from '../source/answers.ts';
import { type Draft, variantsOf } from './draft.ts';

/** How a draft is run. */
export type RunMode = 'fork' | 'resume' | 'retry' | 'experiment';

/** Returns the order of a run. */
export function orderOf(draft: Draft, mode: RunMode): RunOrder {
  const budget = given({ modelCalls: positive(draft.modelCalls), costUsd: positive(draft.costUsd) });
  const minutes = positive(draft.minutes);
  const shared = given({
    agent: draft.agent === '' ? undefined : draft.agent,
    reason: draft.reason === '' || mode === 'resume' ? undefined : draft.reason,
    effects: draft.effects === '' ? undefined : (draft.effects as EffectAction),
    simulate: draft.simulate.length === 0 ? undefined : draft.simulate,
    budget: Object.keys(budget).length === 0 ? undefined : budget,
    timeoutMs: minutes === undefined ? undefined : minutes * 60_000,
  });
  const { edits } = draft;
  if (mode === 'experiment')
    return {
      kind: mode,
      ...shared,
      variants: variantsOf(draft),
      repeats: positive(draft.repeats) ?? 1,
      ...given({ expects: draft.expects === '' ? undefined : draft.expects }),
    };
  if (mode === 'retry')
    return { kind: mode, ...shared, ...given({ name: draft.name === '' ? undefined : draft.name }) };
  if (mode === 'resume') {
    const prompt = edits.find((edit) => edit.kind === 'prompt');
    return { kind: mode, ...shared, ...given({ prompt: prompt?.kind === 'prompt' ? prompt.text : undefined }) };
  }
  return { kind: mode, ...shared, edits, ...given({ name: draft.name === '' ? undefined : draft.name }) };
}

/** Reads a number above 0; anything else is no limit. */
function positive(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== '' && Number.isFinite(value) && value > 0 ? value : undefined;
}
