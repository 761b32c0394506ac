import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import type { Masker } from '../../core/masking/masking.ts';
import { nearest } from '../../core/nearest.ts';
import type { Agent } from '../../core/recording/agent.ts';
import { agentNamed, type Config } from '../../core/recording/config.ts';
import { type EffectPolicy, withSimulations } from '../../core/recording/effects.ts';
import type { AnswerPiece } from '../../core/recording/recorder.ts';
import { parsePoint } from '../../core/ref.ts';
import type { Judge } from '../../engine/experimenting/experiment-options.ts';
import type { ExperimentProgress, ExperimentResult } from '../../engine/experimenting/experiment-result.ts';
import type { EffectAnswer, EffectQuestion } from '../../engine/resuming/effect-guard.ts';
import type { ResumeReport } from '../../engine/resuming/resume.ts';
import type { Session } from '../../engine/session.ts';
import type { RunOrder } from '../../reading/looks/run-orders.ts';

/** The agents that a server may start: a configuration and the file it came from. */
export interface AgentSource {
  readonly config: Config;
  readonly file: string;
}

/** An agent and its name. */
export interface NamedAgent {
  readonly name: string;
  readonly agent: Agent;
}

/** Returns the agent to run: the one that was named, or the only one; `agent.not-found` if there is none. */
export async function agentFor({ config, file }: AgentSource, wanted: string | undefined): Promise<NamedAgent> {
  const names = Object.keys(config.agents ?? {});
  const [only] = names;
  if (wanted === undefined && (only === undefined || names.length > 1))
    throw new RepriseError('agent.not-found', `Cannot choose an agent: there are ${names.join(', ') || 'none'}`, {
      hint: only === undefined ? 'Add one to the agents of the configuration.' : 'Name one of them.',
      details: { agents: names },
    });
  const name = wanted ?? only ?? '';
  return { name, agent: await agentNamed(config, name, file) };
}

/** The surroundings of a run, from the one who started it. */
export interface RunSurroundings {
  readonly session: Session;
  readonly point: string;
  readonly agents: AgentSource;
  readonly agent: Agent;
  readonly signal: AbortSignal;
  /** Masks the record of a run. The branches of an experiment have a masker each: what one meets must not change others. */
  readonly mask: Masker;
  readonly ask: (question: EffectQuestion) => Promise<EffectAnswer>;
  /** Gets the branch of the run as soon as it is known. */
  readonly onBranch: (branch: string) => void;
  readonly onProgress: (progress: ExperimentProgress) => void;
  /** Gets the text of answers while it is written. */
  readonly onText: (piece: AnswerPiece) => void;
}

/** The report of a run that ended. */
export type RunEnd =
  | { readonly kind: 'run'; readonly report: ResumeReport }
  | { readonly kind: 'experiment'; readonly result: ExperimentResult };

/** Does what an order says, from its fork to its end. */
export async function carryOut(order: RunOrder, around: RunSurroundings): Promise<RunEnd> {
  const { session, point, agent, signal, mask, ask, onBranch, onText } = around;
  const { prompt, budget, timeoutMs, run, approve, deny, answer, name, reason, edits } = order;
  const effects = effectsOf(order, around.agents.config);
  const shared = { signal, ask, onText, ...given({ budget, timeoutMs, run, effects }) };
  const decided = { mask, ...given({ prompt, approve, deny, answer }) };
  switch (order.kind) {
    case 'fork': {
      const branch = await session.at(point).fork(given({ name, reason, edits }));
      onBranch(branch.name);
      return { kind: 'run', report: await branch.resume(agent, { ...shared, ...decided }) };
    }
    case 'resume':
      onBranch(parsePoint(point).branch);
      return {
        kind: 'run',
        report: await session.branch(parsePoint(point).branch).resume(agent, { ...shared, ...decided }),
      };
    case 'retry': {
      const { model, extraContext } = order;
      const options = { ...shared, mask, ...given({ model, extraContext, name, reason }) };
      return { kind: 'run', report: await session.at(point).retry(agent, options) };
    }
    case 'experiment':
      return { kind: 'experiment', result: await tryVariants(order, around, shared) };
  }
}

/** Returns the policy of a run with the simulations it names; an experiment takes all of the configuration. */
function effectsOf(
  { kind, effects, simulate = [] }: RunOrder,
  { simulate: known = {} }: Config,
): EffectPolicy | undefined {
  const names = kind === 'experiment' ? Object.keys(known) : simulate;
  return withSimulations(
    effects,
    Object.fromEntries(names.map((name) => [name, { simulate: simulationFor(name, known) }])),
  );
}

function simulationFor(name: string, known: NonNullable<Config['simulate']>): NonNullable<Config['simulate']>[string] {
  if (Object.hasOwn(known, name)) return known[name] ?? null;
  const near = nearest(name, Object.keys(known));
  throw new RepriseError('option.invalid', `Cannot simulate ${JSON.stringify(name)}: the configuration does not`, {
    hint:
      near === undefined ? `Add simulate: { ${name}: (input, recorded) => answer } to it.` : `Did you mean "${near}"?`,
  });
}

async function tryVariants(
  { variants = [], repeats, parallel, judge, expects, reason }: RunOrder,
  { session, point, agent, agents, onProgress }: RunSurroundings,
  shared: object,
): Promise<ExperimentResult> {
  const named: Record<string, Agent> = {};
  for (const { with: name } of variants) if (name !== undefined) named[name] = (await agentFor(agents, name)).agent;
  return await session.at(point).experiment({
    ...shared,
    variants,
    agent,
    agents: named,
    onProgress,
    ...given({
      repeats,
      parallel,
      reason,
      judge: judge === undefined ? undefined : judgeNamed(judge, agents.config),
      check: expects === undefined ? undefined : ({ text }: { readonly text: string }) => text.includes(expects),
    }),
  });
}

function judgeNamed(name: string, { judges = {} }: Config): Judge {
  const found = Object.hasOwn(judges, name) ? judges[name] : undefined;
  if (found !== undefined) return found as Judge;
  throw new RepriseError(
    'option.invalid',
    `Cannot find judge ${JSON.stringify(name)}: the configuration does not name it`,
    {
      hint: `Use one of: ${Object.keys(judges).join(', ') || 'none'}.`,
    },
  );
}
