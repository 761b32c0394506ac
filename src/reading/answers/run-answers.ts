import type { ExperimentRow, ExperimentSetResult } from '../../engine/experimenting/experiment-result.ts';
import type { Comparison } from '../../engine/looking/compare.ts';
import type { ResumeReport } from '../../engine/resuming/resume.ts';
import type { RetryResult } from '../../engine/resuming/retry.ts';

/** A resumed branch, as `reprise resume --json` prints it. The framework's own result is left out. */
export interface ResumeAnswer extends Omit<ResumeReport, 'report'> {
  /** How many events were stored and how many could not be. */
  readonly recorded: { readonly stored: number; readonly failed: number };
}

/** A retried run or task, as `reprise retry --json` prints it. */
export interface RetryAnswer extends ResumeAnswer {
  readonly original: RetryResult['original'];
  readonly sameText: boolean;
  readonly diff: RetryDiff;
}

/** How a retry differs from the original, in counts. */
type RetryDiff = Pick<
  Comparison,
  'identical' | 'forkPoint' | 'divergedAt' | 'matched' | 'changed' | 'onlyLeft' | 'onlyRight'
>;

/** One branch of an experiment, as `reprise experiment --json` prints it. */
export type ExperimentRowAnswer = Omit<ExperimentRow, 'unpricedCalls'>;

/** The last line of `reprise experiment --json`. */
export type ExperimentSummary = Omit<ExperimentSetResult, 'rows'>;

/** A whole experiment as one object. */
export interface ExperimentAnswer extends ExperimentSummary {
  readonly branches: readonly ExperimentRowAnswer[];
}

/** Returns the JSON answer for a resumed branch. */
export function resumeAnswer(resumed: ResumeReport): ResumeAnswer {
  const { session, branch, ref, outcome, text, modelCalls, usage, cost, unpricedCalls, latencyMs } = resumed;
  const { reused, simulated, asked, repairs, waiting, runs, lineage, comparison, report } = resumed;
  const spent = { modelCalls, usage, cost, unpricedCalls, latencyMs };
  const recorded = { stored: report.stored, failed: report.failed };
  const said = { reused, simulated, asked, repairs, waiting, runs, lineage, comparison, recorded };
  return { session, branch, ref, outcome, text, ...spent, ...said };
}

/** Returns the JSON answer for a retried run or task. */
export function retryAnswer(retried: RetryResult): RetryAnswer {
  const { original, text } = retried;
  const { identical, forkPoint, divergedAt, matched, changed, onlyLeft, onlyRight } = retried.diff;
  const diff = { identical, forkPoint, divergedAt, matched, changed, onlyLeft, onlyRight };
  return { ...resumeAnswer(retried), original, sameText: original.text === text, diff };
}

/** Returns the JSON row of a branch of an experiment. */
export function experimentRowAnswer(row: ExperimentRow): ExperimentRowAnswer {
  const { variant, repeat, branch, outcome, text, modelCalls, usage, cost, latencyMs, divergedAt, passed } = row;
  const { error, errorCode, reused, simulated, session, scores, reason, judge } = row;
  const spent = { modelCalls, usage, cost, latencyMs, reused, simulated };
  const judged = { passed, scores, reason, judge };
  return { session, variant, repeat, branch, outcome, text, ...spent, divergedAt, ...judged, error, errorCode };
}

/** Returns the JSON answer for an experiment, without its branches. */
export function experimentSummary({ id, total, sessions, variants }: ExperimentSetResult): ExperimentSummary {
  return { id, total, sessions, variants };
}
