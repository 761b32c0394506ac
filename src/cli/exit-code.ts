import { type ErrorCode, RepriseError } from '../core/error.ts';
import type { Outcome } from '../core/event/event.ts';

/** Done. */
export const done = 0;
/** The answer is no: different, not verified, not found, a conflict, or a duplicate. */
export const no = 1;
/** Wrong usage. */
export const usage = 2;
/** The store, the network or an agent failed. */
export const failed = 3;
/** Stopped by Ctrl-C; shells use the same code. */
export const stopped = 130;

const usageCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'agent.invalid',
  'bundle.invalid',
  'config.invalid',
  'config.not-run',
  'edit.invalid',
  'event.invalid',
  'event.reserved',
  'experiment.invalid',
  'export.invalid',
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
  'report.invalid',
  'request.incomplete',
  'session.not-confirmed',
  'signature.invalid',
  'store.unsupported',
  'time.invalid',
]);

const failedCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'agent.failed',
  'bundle.damaged',
  'config.untrusted',
  'event.damaged',
  'event.newer-version',
  'folder.failed',
  'part.damaged',
  'part.missing',
  'projection.failed',
  'recording.failed',
  'token.invalid',
]);

/** Returns the exit code of a run that gave a result; a run that was stopped early did not succeed. */
export function exitCodeOfRun(outcome: Outcome, signal: AbortSignal): number {
  if (outcome === 'ok') return done;
  return signal.aborted ? stopped : no;
}

/**
 * Returns the exit code of several runs: 0 if at least one gave a result. Otherwise 3 if an agent failed, else 1, since all
 * of them were stopped.
 */
export function exitCodeOfRows(
  rows: readonly { readonly outcome: Outcome; readonly errorCode: string | null }[],
): number {
  if (rows.some(({ outcome }) => outcome === 'ok')) return done;
  const isFailed = ({ outcome, errorCode: code }: (typeof rows)[number]): boolean =>
    outcome === 'error' && (code === null || codeExit(code) === failed);
  return rows.some(isFailed) ? failed : no;
}

/** Returns the exit code for an error. */
export function exitCodeOf(error: unknown): number {
  return error instanceof RepriseError ? codeExit(error.code) : failed;
}

function codeExit(code: string): number {
  if (usageCodes.has(code)) return usage;
  if (code === 'resume.aborted' || code === 'copy.aborted') return stopped;
  return code.startsWith('store.') || failedCodes.has(code) ? failed : no;
}
