import { type ErrorCode, RepriseError } from '../core/error.ts';
import type { Outcome } from '../core/event/event.ts';

/** Done. */
export const done = 0;
/** The answer is no: different, not verified, not found, conflict, duplicate. */
export const no = 1;
/** Wrong usage. */
export const usage = 2;
/** The store or the world failed. */
export const failed = 3;
/** Stopped by Ctrl-C, as a shell tells it. */
export const stopped = 130;

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

/**
 * The exit code of several runs of which each says how it ended: done if one of them came to a result. Otherwise nothing
 * was learnt, and it is that of the worst of them: an agent that failed, else what was stopped.
 */
export function exitCodeOfRows(
  rows: readonly { readonly outcome: Outcome; readonly errorCode: string | null }[],
): number {
  if (rows.some(({ outcome }) => outcome === 'ok')) return done;
  const isFailed = ({ outcome, errorCode: code }: (typeof rows)[number]): boolean =>
    outcome === 'error' && (code === null || codeExit(code as ErrorCode) === failed);
  return rows.some(isFailed) ? failed : no;
}

/** The exit code an error ends the program with. */
export function exitCodeOf(error: unknown): number {
  return error instanceof RepriseError ? codeExit(error.code) : failed;
}

function codeExit(code: ErrorCode): number {
  if (usageCodes.has(code)) return usage;
  if (code === 'resume.aborted' || code === 'copy.aborted') return stopped;
  return code.startsWith('store.') || failedCodes.has(code) ? failed : no;
}
