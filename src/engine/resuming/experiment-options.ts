import type { Variant } from '../../core/comparing/variants.ts';
import { RepriseError } from '../../core/error.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkLimit } from '../../core/limits.ts';
import type { Agent } from '../../core/recording/agent.ts';
import type { CheckedBranch, ExperimentProgress } from './experiment-result.ts';
import { checkLimits, type ResumeOptions, resumeOptionNames } from './resume.ts';

/** How to run an experiment. Other options are those of `resume`. */
export interface ExperimentOptions<Run = unknown, Result = unknown> extends Omit<ResumeOptions<Run>, 'prompt'> {
  readonly variants: readonly Variant[];
  /** How often each variant is run; once if left out. */
  readonly repeats?: number;
  /** How many runs go on at the same time; 2 if left out. */
  readonly parallel?: number;
  /** The agent of variants that name none. */
  readonly agent?: Agent<Run, Result>;
  /** Agents by the names that variants call for in `with`. */
  readonly agents?: Readonly<Record<string, Agent<Run, Result>>>;
  /** Tells whether a branch passed. An error it throws counts as a failure, and the row keeps its message. */
  readonly check?: (branch: CheckedBranch<Result>) => boolean | Promise<boolean>;
  /** Hears when a branch starts and when it has ended. */
  readonly onProgress?: (progress: ExperimentProgress) => void;
  /** Why the branches are made; each one records it. */
  readonly reason?: string;
}

/** Every option of a resume except the prompt, which variants have. */
const { prompt: _prompt, ...resumeNames } = resumeOptionNames;
const experimentKeys: KnownKeys = optionKeys<ExperimentOptions>(
  'run the experiment',
  {
    ...resumeNames,
    variants: 'list',
    repeats: 'number',
    parallel: 'number',
    agent: true,
    agents: 'object',
    check: 'function',
    onProgress: 'function',
    reason: 'text',
  },
  'an experiment',
);

/** Throws if an option is unknown or not valid, before any branch is made. */
export function checkExperiment<Run, Result>(options: ExperimentOptions<Run, Result>): void {
  checkKeys(options, experimentKeys);
  checkLimits(options);
}

function refuse(why: string, hint: string): never {
  throw new RepriseError('experiment.invalid', `Cannot run the experiment: ${why}`, { hint });
}

/** Throws if a count is not valid or above its limit. */
export function checkCounts(variants: readonly Variant[], repeats: number, parallel: number): void {
  for (const [name, value] of Object.entries({ repeats, parallel }))
    if (!Number.isSafeInteger(value) || value < 1) refuse(`"${name}" is ${value}`, 'Use a whole number from 1.');
  checkLimit('experimentBranchesMax', variants.length * repeats, 'run an experiment of so many branches');
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
