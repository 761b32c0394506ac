import type { DiffPlace } from '../../core/comparing/diff.ts';
import type { PassInterval, Verdict } from '../../core/comparing/statistics.ts';
import type { Outcome } from '../../core/event/event.ts';
import type { Point } from '../../core/point.ts';
import type { ResumeUsage } from './resume.ts';

/** What a check is given: one branch that has come to an end. */
export interface CheckedBranch<Result = unknown> {
  readonly session: string;
  readonly branch: string;
  readonly ref: string;
  readonly variant: string;
  readonly repeat: number;
  readonly outcome: Outcome;
  readonly text: string;
  /** Undefined where the agent failed. */
  readonly result: Result | undefined;
}

/** How far an experiment is. */
export interface ExperimentProgress {
  readonly done: number;
  readonly total: number;
  readonly variant: string;
  readonly repeat: number;
  /** There once the branch has come to an end. */
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
  /** In US dollars; null where no price is known. */
  readonly cost: number | null;
  /** Model calls without a price: `cost` does not hold what they took. */
  readonly unpricedCalls: number;
  readonly latencyMs: number;
  /** Where it first differs from the original; null if it does not, or could not be compared. */
  readonly divergedAt: DiffPlace | null;
  /** What the check said; null without a check. */
  readonly passed: boolean | null;
  /** What went wrong, in words; null if nothing did. */
  readonly error: string | null;
  /** The code of that error, such as `effect.refused`; null where it has none. */
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
  /** Where the share of passes lies, at 95 %; null without a check. */
  readonly interval: PassInterval | null;
  /** Whether it passed at some times and failed at others. */
  readonly flapping: boolean;
  /** How it compares with the first variant. */
  readonly verdict: Verdict;
  /** How probable counts so far apart are without a difference; null where nothing was compared. */
  readonly chance: number | null;
  /** Model calls of all its branches without a price: the mean of `cost` does not hold what they took. */
  readonly unpricedCalls: number;
  /** The means over its branches; of costs, over those that are known. */
  readonly mean: {
    readonly modelCalls: number;
    readonly tokens: number;
    readonly cost: number | null;
    readonly latencyMs: number;
  };
}

/** What came of an experiment. */
export interface ExperimentResult {
  readonly session: string;
  /** The point that every branch was forked at. */
  readonly point: Point;
  /** The branch that each one was compared with, as a ref. */
  readonly original: string;
  readonly rows: readonly ExperimentRow[];
  readonly variants: readonly VariantSummary[];
}
