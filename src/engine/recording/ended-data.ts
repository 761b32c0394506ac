import { canonicalJson } from '../../core/canonical-json.ts';
import type { Outcome } from '../../core/event/event.ts';
import { errorRecord, outcomeOfError } from '../../core/recording/error-record.ts';
import type { ToldData } from './prepared-event.ts';

/** Returns the outcome that was given, else the one that the error means. */
export function outcomeOf({ outcome, error }: { readonly outcome?: Outcome; readonly error?: unknown }): Outcome {
  return outcome ?? (error === undefined ? 'ok' : outcomeOfError(error));
}

/** Returns the data of a `run.ended`, or of a `task.ended` without its id. A result that is not JSON is left out. */
export function endedData(end: {
  readonly outcome?: Outcome;
  readonly result?: unknown;
  readonly error?: unknown;
}): ToldData {
  return {
    outcome: outcomeOf(end),
    result: jsonOrNothing(end.result),
    error: end.error === undefined ? undefined : errorRecord(end.error),
  };
}

function jsonOrNothing(value: unknown): unknown {
  try {
    return value === undefined || canonicalJson(value) === '' ? undefined : value;
  } catch {
    return undefined;
  }
}
