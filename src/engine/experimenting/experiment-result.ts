import type { Scores } from '../../core/comparing/check-answer.ts';
import type { DiffPlace } from '../../core/comparing/diff.ts';
import type { MeanInterval, PairCount, PassComparison, PassInterval } from '../../core/comparing/statistics.ts';
import type { Outcome } from '../../core/event/event.ts';
import type { Point } from '../../core/point.ts';
import type { ResumeUsage } from '../resuming/resume.ts';

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
  /** The id of the experiment, with which it can be continued and shown. */
  readonly id: string;
  /** Branches that have ended, those of an earlier run of the experiment included. */
  readonly done: number;
  readonly total: number;
  readonly session: string;
  readonly variant: string;
  readonly repeat: number;
  /** How long the rest may take, by what the branches so far took; null before the first has ended. */
  readonly leftMs: number | null;
  /** The row of the branch, once it has ended. */
  readonly row?: ExperimentRow;
}

/** The part of a judge in a row: the branch that its calls are recorded on, and what they took. */
export interface JudgeRow {
  readonly branch: string;
  readonly modelCalls: number;
  /** The cost in US dollars; null if no price is known. */
  readonly cost: number | null;
}

/** One branch of an experiment. */
export interface ExperimentRow {
  readonly session: string;
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
  /** The result of the check; null without a check, or if it only gave scores. */
  readonly passed: boolean | null;
  /** The scores of the check and the judge, by name. */
  readonly scores: Scores;
  /** The reason that the check or the judge gave; null if there is none. */
  readonly reason: string | null;
  /** Null without a judge. */
  readonly judge: JudgeRow | null;
  /** The message of the error; null if there was none. */
  readonly error: string | null;
  /** The code of that error, such as `effect.refused`; null if it has none. */
  readonly errorCode: string | null;
}

/** A comparison with the first variant: over all tries in one session, or session by session in a set. */
export interface VariantComparison extends PassComparison {
  /** In how many sessions of a set it was better, worse and equal; null for one session. */
  readonly paired: PairCount | null;
}

/** One score of a variant over all its branches. */
export interface ScoreSummary extends MeanInterval, VariantComparison {
  readonly name: string;
}

/** One variant over all its repeats and sessions. */
export interface VariantSummary extends VariantComparison {
  readonly variant: string;
  readonly branches: number;
  /** Branches that ended `ok`. */
  readonly succeeded: number;
  readonly passed: number;
  readonly checked: number;
  /** The interval of the pass rate at 95 %; null without a check. In a set it counts sessions, not branches. */
  readonly interval: PassInterval | null;
  /** Whether it passed at some times and failed at others, from the same point. */
  readonly flapping: boolean;
  readonly scores: readonly ScoreSummary[];
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

/** A session of an experiment. */
export interface ExperimentSession {
  readonly session: string;
  /** The point that its branches were forked at; null if it was not found. */
  readonly point: Point | null;
  /** The branch that each one was compared with, as a ref. */
  readonly original: string;
  /** Why nothing was run in it; null if it was. */
  readonly error: string | null;
  readonly errorCode: string | null;
}

/** The result of an experiment on any number of sessions. */
export interface ExperimentSetResult {
  /** The id with which it can be continued and shown. */
  readonly id: string;
  /** Branches that the experiment has when it is complete. */
  readonly total: number;
  readonly sessions: readonly ExperimentSession[];
  readonly rows: readonly ExperimentRow[];
  readonly variants: readonly VariantSummary[];
}

/** The result of an experiment. */
export interface ExperimentResult extends ExperimentSetResult {
  readonly session: string;
  /** The point that every branch was forked at. */
  readonly point: Point;
  /** The branch that each one was compared with, as a ref. */
  readonly original: string;
}
