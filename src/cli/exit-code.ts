import { type ErrorCode, RepriseError } from '../core/error.ts';
import type { Outcome } from '../core/event.ts';

/** Done. */
export const done = 0;
/** The answer is no: different, not verified, not found, conflict, duplicate. */
export const no = 1;
/** Wrong usage. */
export const usage = 2;
/** The store or the world failed. */
export const failed = 3;
/** Stopped by Ctrl-C, as a shell tells it. */
const stopped = 130;

const usageCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'agent.invalid',
  'config.invalid',
  'edit.invalid',
  'event.invalid',
  'event.reserved',
  'experiment.invalid',
  'filter.invalid',
  'fingerprint.other-scheme',
  'id.invalid',
  'import.invalid',
  'json.cyclic',
  'json.lone-surrogate',
  'json.not-json',
  'json.too-deep',
  'json.unsafe-number',
  'key.invalid',
  'limit.exceeded',
  'option.invalid',
  'projection.invalid',
  'ref.invalid',
  'session.not-confirmed',
  'store.unsupported',
  'time.invalid',
]);

const failedCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'agent.failed',
  'event.damaged',
  'event.newer-version',
  'part.damaged',
  'part.missing',
  'projection.failed',
  'recording.failed',
]);

/** The exit code of a run that came to a result: one that was stopped before it was done is not done. */
export function exitCodeOfRun(outcome: Outcome, signal: AbortSignal): number {
  if (outcome === 'ok') return done;
  return signal.aborted ? stopped : no;
}

/** The exit code an error ends the program with. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof RepriseError)) return failed;
  if (usageCodes.has(error.code)) return usage;
  if (error.code === 'resume.aborted' || error.code === 'copy.aborted') return stopped;
  return error.code.startsWith('store.') || failedCodes.has(error.code) ? failed : no;
}
