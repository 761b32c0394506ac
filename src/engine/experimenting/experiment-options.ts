import type { CheckAnswer } from '../../core/comparing/check-answer.ts';
import type { Budget, Variant } from '../../core/comparing/variants.ts';
import { RepriseError } from '../../core/error.ts';
import { checkKeys, type KnownKeys, type OptionKind, optionKeys } from '../../core/known-keys.ts';
import { checkLimit } from '../../core/limits.ts';
import type { Agent } from '../../core/recording/agent.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import { checkBudget } from '../resuming/budget-guard.ts';
import { checkLimits, type ResumeOptions, resumeOptionNames } from '../resuming/resume.ts';
import type { SetPoint } from './experiment-place.ts';
import type { CheckedBranch, ExperimentProgress } from './experiment-result.ts';

/** The surroundings of a judge. */
export interface JudgeContext {
  /** Records the calls of the judge, on a separate branch and within its budget. */
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
}

/** Judges a branch; it may make calls, such as to a model. */
export type Judge<Result = unknown> = (
  branch: CheckedBranch<Result>,
  context: JudgeContext,
) => CheckAnswer | Promise<CheckAnswer>;

/** How to run an experiment. Other options are those of `resume`. */
export interface ExperimentOptions<Run = unknown, Result = unknown> extends Omit<ResumeOptions<Run>, 'prompt'> {
  readonly variants: readonly Variant[];
  /** How often each variant is run; once if left out. */
  readonly repeats?: number;
  /** How many runs take place at the same time; 2 if left out. */
  readonly parallel?: number;
  /** The agent of variants that name none. */
  readonly agent?: Agent<Run, Result>;
  /** Agents by the names that variants call for in `with`. */
  readonly agents?: Readonly<Record<string, Agent<Run, Result>>>;
  /**
   * Returns whether a branch passed, or its scores. An error it throws counts as a failure, and the row keeps its message. An
   * answer that is neither is `check.invalid`, and counts as neither.
   */
  readonly check?: (branch: CheckedBranch<Result>) => CheckAnswer | Promise<CheckAnswer>;
  /** Judges a branch; the calls that it makes are recorded. With a check, both have to pass it. */
  readonly judge?: Judge<Result>;
  /** How many model calls, tokens and dollars the judge may take for one branch; no limit if left out. */
  readonly judgeBudget?: Budget;
  /** How many model calls, tokens and dollars the whole experiment may take; no limit if left out. */
  readonly budgetTotal?: Budget;
  /** Continues an experiment by its id: branches that have a result are not run again. */
  readonly continue?: string;
  /** Hears when a branch starts and when it has ended. */
  readonly onProgress?: (progress: ExperimentProgress) => void;
  /** Why the branches are made; each one records it. */
  readonly reason?: string;
}

/** How to run an experiment on many sessions. */
export interface ExperimentSetOptions<Run = unknown, Result = unknown> extends ExperimentOptions<Run, Result> {
  /** The ids of the sessions. One that is gone is reported, and the others are run. */
  readonly sessions: readonly string[];
  /** The point of each session to start from; the first user message if left out. */
  readonly at?: SetPoint;
}

/** Every option of a resume except the prompt, which variants have, and decisions, which are about one branch. */
const { prompt: _prompt, ...resumeNames } = resumeOptionNames;
const experimentNames: Readonly<Record<keyof ExperimentOptions, true | OptionKind>> = {
  ...resumeNames,
  variants: 'list',
  repeats: 'number',
  parallel: 'number',
  agent: true,
  agents: 'object',
  check: 'function',
  judge: 'function',
  judgeBudget: true,
  budgetTotal: true,
  continue: 'text',
  onProgress: 'function',
  reason: 'text',
};
const experimentKeys: KnownKeys = optionKeys<ExperimentOptions>('run the experiment', experimentNames, 'an experiment');
const setKeys: KnownKeys = optionKeys<ExperimentSetOptions>(
  'run the experiment',
  { ...experimentNames, sessions: 'list', at: true },
  'an experiment on a set',
);

/** Throws if an option is unknown or not valid, before any branch is made. */
export function checkExperiment<Run, Result>(options: ExperimentOptions<Run, Result>, isSet: boolean): void {
  checkKeys(options, isSet ? setKeys : experimentKeys);
  checkLimits(options);
  checkBudget(options.judgeBudget);
  checkBudget(options.budgetTotal);
}

function refuse(why: string, hint: string): never {
  throw new RepriseError('experiment.invalid', `Cannot run the experiment: ${why}`, { hint });
}

/** Throws if a count is not valid or above its limit. */
export function checkCounts(variants: readonly Variant[], sessions: number, options: ExperimentOptions): void {
  const { repeats = 1, parallel = 2 } = options;
  for (const [name, value] of Object.entries({ repeats, parallel }))
    if (!Number.isSafeInteger(value) || value < 1) refuse(`"${name}" is ${value}`, 'Use a whole number from 1.');
  if (sessions === 0) refuse('its set has no sessions', 'List the sessions to run it on.');
  const branches = variants.length * repeats;
  checkLimit('experimentBranchesMax', branches, 'run an experiment of so many branches');
  checkLimit('experimentRowsMax', branches * sessions, 'run an experiment of so many branches in all sessions');
  checkLimit('experimentParallelMax', parallel, 'run so much of an experiment at once');
}

/** Returns the agent that runs a variant. */
export function agentOf<Run, Result>(
  variant: Variant,
  { agent: usual, agents = {} }: ExperimentOptions<Run, Result>,
): Agent<Run, Result> {
  const name = variant.with;
  const agent = name === undefined ? usual : Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (agent !== undefined) return agent;
  if (name === undefined)
    return refuse(`variant "${variant.name}" has no agent`, 'Pass "agent", or name one in "with".');
  throw new RepriseError('agent.not-found', `Cannot run variant "${variant.name}": there is no agent "${name}"`, {
    hint: `Use one of: ${Object.keys(agents).join(', ') || 'none'}.`,
  });
}

/** Returns the options that the resume of each branch takes. */
export function resumeOptionsOf<Run, Result>(options: ExperimentOptions<Run, Result>): ResumeOptions<Run> {
  return Object.fromEntries(
    Object.entries(options).filter(([key, value]) => Object.hasOwn(resumeNames, key) && value !== undefined),
  );
}
