import { hasCode } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { propertyOf } from '../../core/property.ts';
import { outcomeOfError } from '../../core/recording/error-record.ts';
import type { CallEnd } from '../../core/recording/recorder.ts';

/** Returns the outcome of a thrown value. LangGraph throws even to pause a graph, which is not a failure. */
export function outcomeOfThrown(thrown: unknown): Outcome {
  const name = propertyOf(thrown, 'name');
  if (name === 'GraphInterrupt' || name === 'NodeInterrupt') return 'waiting';
  if (name === 'ParentCommand') return 'ok';
  return name === 'ModelAbortError' ? 'aborted' : outcomeOfError(thrown);
}

/** Returns the end of a call that threw. A tool that stopped to wait for a person has no answer, so no error either. */
export function thrownEnd(thrown: unknown): CallEnd {
  const outcome = outcomeOfThrown(thrown);
  return outcome === 'waiting' ? { outcome } : { outcome, error: thrown };
}

/** Returns true if an error is a guard's refusal, which must stop the graph. */
export function isRefusal(thrown: unknown): boolean {
  return hasCode(thrown, 'effect.refused') || hasCode(thrown, 'budget.exceeded');
}
