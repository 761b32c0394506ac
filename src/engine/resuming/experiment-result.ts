import type { DiffPlace } from '../../core/comparing/diff.ts';
import type { PassInterval, Verdict } from '../../core/comparing/statistics.ts';
import type { Outcome } from '../../core/event/event.ts';
import type { Point } from '../../core/point.ts';
import type { ResumeUsage } from './resume.ts';

/** A branch that has ended, as a check gets it. */
export interface CheckedBranch<Result = unknown> {
  readonly session: string;
  readonly branch: string;
  readonly ref: string;
  readonly variant: string;
  readonly repeat: number;
  readonly outcome: Outcome;
  readonly text: string;
  /** The result of the agent; undefined if it failed. */
  readonly result: Result | undefined;
}

/** The progress of an experiment. */
export interface ExperimentProgress {
  readonly done: number;
  readonly total: number;
  readonly variant: string;
  readonly repeat: number;
  /** The row of the branch, once it has ended. */
  readonly row?: ExperimentRow;
}

/** One branch of an experiment. */
export interface ExperimentRow {
  readonly variant: string;
  /** Which repeat of the variant, from 1. */
  readonly repeat: number;
  readonly branch: string;
  readonly outcome: Outcome;
  readonly text: string;
  readonly modelCalls: number;
  readonly usage: ResumeUsage;
  /** The cost in US dollars; null if no price is known. */
  readonly cost: number | null;
  /** Model calls without a known price; `cost` does not include them. */
  readonly unpricedCalls: number;
  readonly latencyMs: number;
  /** How many calls were answered from the record, and how many by simulations. */
  readonly reused: number;
  readonly simulated: number;
  /** Where it first differs from the original; null if it does not differ or could not be compared. */
  readonly divergedAt: DiffPlace | null;
  /** The result of the check; null without a check. */
  readonly passed: boolean | null;
  /** The message of the error; null if there was none. */
  readonly error: string | null;
  /** The code of that error, such as `effect.refused`; null if it has none. */
  readonly errorCode: string | null;
}

/** One variant over all its repeats. */
export interface VariantSummary {
  readonly variant: string;
  readonly branches: number;
  /** Branches that ended `ok`. */
  readonly succeeded: number;
  readonly passed: number;
  readonly checked: number;
  /** The interval of the pass rate at 95 %; null without a check. */
  readonly interval: PassInterval | null;
  /** Whether it passed at some times and failed at others. */
  readonly flapping: boolean;
  /** How it compares with the first variant. */
  readonly verdict: Verdict;
  /** How likely such a difference is by chance alone; null if nothing was compared. */
  readonly chance: number | null;
  /** Model calls without a known price in all its branches; the mean of `cost` does not include them. */
  readonly unpricedCalls: number;
  /** The means over its branches; for the cost, over those with a known cost. */
  readonly mean: {
    readonly modelCalls: number;
    readonly tokens: number;
    readonly cost: number | null;
    readonly latencyMs: number;
  };
}

/** The result of an experiment. */
export interface ExperimentResult {
  readonly session: string;
  /** The point that every branch was forked at. */
  readonly point: Point;
  /** The branch that each one was compared with, as a ref. */
  readonly original: string;
  readonly rows: readonly ExperimentRow[];
  readonly variants: readonly VariantSummary[];
}
