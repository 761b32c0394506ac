import { canonicalJson } from '../../core/canonical-json.ts';
import type { Outcome } from '../../core/event/event.ts';
import { errorRecord, outcomeOfError } from '../../core/recording/error-record.ts';
import type { ToldData } from './prepared-event.ts';

/** How something ended: as it was said, else by its error. */
export function outcomeOf({ outcome, error }: { readonly outcome?: Outcome; readonly error?: unknown }): Outcome {
  return outcome ?? (error === undefined ? 'ok' : outcomeOfError(error));
}

/** The data of a `run.ended`, and of all but the id of a `task.ended`. A result that is not JSON is not recorded. */
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
