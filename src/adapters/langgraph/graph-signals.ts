import { hasCode } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { propertyOf } from '../../core/property.ts';
import { outcomeOfError } from '../../core/recording/error-record.ts';

/** How something ended that threw. LangGraph also throws to pause a graph, which is no failure. */
export function outcomeOfThrown(thrown: unknown): Outcome {
  const name = propertyOf(thrown, 'name');
  if (name === 'GraphInterrupt' || name === 'NodeInterrupt') return 'interrupted';
  if (name === 'ParentCommand') return 'ok';
  return name === 'ModelAbortError' ? 'aborted' : outcomeOfError(thrown);
}

/** Whether an error is meant for the graph: what a guard refuses must not go on. */
export function isRefusal(thrown: unknown): boolean {
  return hasCode(thrown, 'effect.refused') || hasCode(thrown, 'budget.exceeded');
}
