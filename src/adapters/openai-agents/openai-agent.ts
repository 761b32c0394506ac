import {
  type AgentInputItem,
  type NonStreamRunOptions,
  Runner,
  type RunResult,
  type RunStreamEvent,
  type Session,
  type StreamedRunResult,
} from '@openai/agents';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { type Message, toolResultsIn } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import type { ResumableAgent, ResumeContext } from '../../core/recording/agent.ts';
import {
  agreedEffect,
  agreedEffects,
  checkDeclared,
  declaredEffect,
  type EffectClass,
} from '../../core/recording/effects.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import type { AnyAgent, ContextOf } from './acting-agent.ts';
import { itemsFromMessages } from './items-from-messages.ts';
import { type CallPlace, isFunctionNamed } from './pending-call.ts';
import { recordInterruptions, rejection } from './person-approval.ts';
import { textOfValue } from './provider-fields.ts';
import {
  agentCopying,
  type HowToCopy,
  originalAgent,
  type RecordAgentOptions,
  recordedCopy,
  recordedEffects,
} from './recorded-agent.ts';
import { packages } from './recorded-model.ts';
import { refusalIn, runnerWithModels } from './recorded-runner.ts';
import { recordedEffect } from './recorded-tool.ts';
import { rememberAnswer } from './recording-memory.ts';
import {
  actingAfter,
  agentAsBranchSays,
  approvalNeeded,
  callToolOf,
  hasHandedOff,
  ownModelName,
  reachableAgents,
} from './resumed-agent.ts';

/** How to resume an agent of OpenAI Agents. */
export interface OpenAIAgentOptions<TContext = unknown> extends RecordAgentOptions {
  /** The runner, with models and guardrails; one with the framework's defaults if left out. */
  readonly runner?: Runner;
  /** The context of the tools, unless the run has its own. */
  readonly context?: TContext;
}

/** How to resume an agent with a streamed run. */
export interface StreamedAgentOptions<TContext = unknown> extends OpenAIAgentOptions<TContext> {
  /** Makes the run a streamed one, and gets every event as it comes. */
  readonly onEvent: (event: RunStreamEvent) => void;
}

const agentKeys: KnownKeys = optionKeys<StreamedAgentOptions>(
  'make an agent',
  { effects: true, runner: true, context: true, onEvent: true },
  'an agent',
);

/** The options of the framework's run call. */
export type OpenAIRunOptions<TAgent extends AnyAgent = AnyAgent> = NonStreamRunOptions<ContextOf<TAgent>, TAgent>;

/**
 * Makes a resumable agent of an agent of OpenAI Agents. History, prompt and settings come from the branch. The agent
 * whose run it is continues, or the one it handed off to in that run. The result is the framework's own.
 *
 * A framework session among the run options is not read, so that it cannot replace the history. An empty session gets
 * the branch's history when the run has ended; any other session is left alone.
 *
 * @example
 * ```ts
 * const agent = openaiAgent(support, { runner, effects: { refund: 'irreversible' } });
 * const { result, text } = await branch.resume(agent, { run: { maxTurns: 5 } });
 * console.log(result.history.length, text);
 * ```
 */
export function openaiAgent<TAgent extends AnyAgent>(
  agent: TAgent,
  options: StreamedAgentOptions<ContextOf<TAgent>>,
): ResumableAgent<OpenAIRunOptions<TAgent> | undefined, StreamedRunResult<ContextOf<TAgent>, TAgent>>;
export function openaiAgent<TAgent extends AnyAgent>(
  agent: TAgent,
  options?: OpenAIAgentOptions<ContextOf<TAgent>>,
): ResumableAgent<OpenAIRunOptions<TAgent> | undefined, RunResult<ContextOf<TAgent>, TAgent>>;
export function openaiAgent(
  source: AnyAgent,
  declared: EitherOptions = {},
): ResumableAgent<OpenAIRunOptions | undefined, AnyResult> {
  checkDeclared(declared, agentKeys);
  const agent = originalAgent(source);
  const options = { ...declared, effects: agreedEffects(declared.effects, recordedEffects(source)) };
  return {
    framework: 'openai-agents',
    packages,
    name: agent.name,
    // Agents that hand off to each other get some of their handoffs after this.
    get handsOffTo() {
      return reachableAgents(agent).flatMap((each) => (each === agent ? [] : [each.name]));
    },
    ...modelOf(agent, options),
    resume: (context, run) => resumed(agent, { context, run: run ?? {}, options }),
    approvalOf: (call, context) =>
      approvalNeeded(actingAfter(agent, context), call, context.run?.context ?? options.context),
    denied: (_call, { reason }) => reason ?? rejection,
    callTool: (call, context, run) =>
      callToolOf(actingAfter(agent, context), call, placeOf(agent, { context, run: run ?? {}, options })),
    effectOf: ({ name }) => agreedEffect(declaredEffect(options.effects, name), effectBefore(agent, name)),
    // The framework warns if the output of a run that waits is read.
    textOf: (result) => (result.interruptions.length > 0 ? '' : textOfValue(result.finalOutput ?? '')),
  };
}

/**
 * Returns the effect class that the tools of a name were recorded with, of all agents that may have asked for it:
 * `irreversible` if one of them was, any other class only if all were.
 */
function effectBefore(agent: AnyAgent, name: string): EffectClass | undefined {
  const effects = reachableAgents(agent).flatMap((each) => {
    const tools = each.tools.filter((tool) => isFunctionNamed(tool, name));
    // The tools of a server are known by the table of the agent alone.
    return tools.length > 0 ? tools.map(recordedEffect) : (declaredEffect(recordedEffects(each), name) ?? []);
  });
  const [first, ...others] = new Set(effects);
  return others.length === 0 ? first : effects.find((effect) => effect === 'irreversible');
}

/** Returns where pending calls are made. */
function placeOf(agent: AnyAgent, { context, run, options }: Resuming): CallPlace {
  const { recorder, signal } = context;
  const { runner = new Runner() } = options;
  return {
    runner: runnerWithModels(runner, recorder),
    recorder,
    context: run.context ?? options.context,
    signal,
    inner: agentCopying(recorder, copiedAs(agent, context, options)),
  };
}

/** Returns how agents are copied: as the branch says. */
function copiedAs(agent: AnyAgent, context: ResumeContext, { runner, effects }: EitherOptions): HowToCopy {
  const acting = actingAfter(agent, context);
  const isNew = hasHandedOff(agent, acting, context.floor);
  const changed = (each: AnyAgent): AnyAgent => {
    const settings = each === acting && !isNew ? context : context.settingsOf(each.name, each === acting);
    return agentAsBranchSays(each, settings, ownModelName(each, runner?.config.model));
  };
  return { options: given({ effects }), changed };
}

/** Returns the model, if it is named: the default of a provider is not known. */
function modelOf(agent: AnyAgent, { runner }: EitherOptions): { readonly model?: string } {
  const fallback = runner?.config.model;
  return agent.model === '' && fallback === undefined ? {} : { model: ownModelName(agent, fallback) };
}

type EitherOptions = OpenAIAgentOptions & Partial<StreamedAgentOptions>;
type AnyResult = RunResult<unknown, AnyAgent> | StreamedRunResult<unknown, AnyAgent>;

interface Resuming {
  readonly context: ResumeContext;
  readonly run: OpenAIRunOptions;
  readonly options: EitherOptions;
}

async function resumed(agent: AnyAgent, { context, run, options }: Resuming): Promise<AnyResult> {
  refuseServerHistory(run);
  const { recorder, messages, prompt } = context;
  const runner = options.runner ?? new Runner();
  const history = [...messages, ...(prompt === undefined ? [] : [prompt])];
  knowAnswers(history, recorder);
  const { session, signal, ...rest } = run;
  const result = await ran(runnerWithModels(runner, recorder), {
    agent: recordedCopy(actingAfter(agent, context), recorder, copiedAs(agent, context, options)),
    items: itemsFromMessages(history),
    run: {
      ...given({ context: options.context }),
      ...rest,
      signal: signal === undefined ? context.signal : AbortSignal.any([signal, context.signal]),
    },
    onEvent: options.onEvent,
  });
  await recordInterruptions(recorder, result.interruptions);
  await fill(session, result.history);
  return result;
}

interface Running {
  readonly agent: AnyAgent;
  readonly items: AgentInputItem[];
  readonly run: OpenAIRunOptions;
  readonly onEvent: StreamedAgentOptions['onEvent'] | undefined;
}

async function ran(runner: Runner, { agent, items, run, onEvent }: Running): Promise<AnyResult> {
  try {
    if (onEvent === undefined) return await runner.run<AnyAgent, unknown>(agent, items, run);
    const streamed = await runner.run<AnyAgent, unknown>(agent, items, { ...run, stream: true });
    for await (const event of streamed) onEvent(event);
    await streamed.completed;
    return streamed;
  } catch (error) {
    throw refusalIn(error);
  }
}

/** Throws for options with which a server's history would replace that of the branch. */
function refuseServerHistory(run: object): void {
  const options = propertiesOf(run);
  const refused = ['conversationId', 'previousResponseId'].find((name) => options[name] !== undefined);
  if (refused !== undefined) {
    throw new RepriseError('resume.invalid', `Cannot resume with "${refused}": the history is the branch's own`, {
      hint: `Leave "${refused}" out: the whole history of the branch is sent.`,
    });
  }
  if (options['stream'] === true) {
    throw new RepriseError('resume.invalid', 'Cannot resume with "stream": a resumed run has ended when it returns', {
      hint: 'Pass openaiAgent() an "onEvent" function, which gets every event as it comes.',
    });
  }
}

/** Remembers the results of the history, so that requests have them as values, not as text. */
function knowAnswers(messages: readonly Message[], recorder: Recorder): void {
  for (const message of messages) {
    for (const { toolCallId, output, isError = false } of toolResultsIn(message)) {
      rememberAnswer(recorder, toolCallId, { text: textOfValue(output), output, isError });
    }
  }
}

/** Writes the history to the program's session, if that is empty. */
async function fill(session: Session | undefined, history: AgentInputItem[]): Promise<void> {
  if (session !== undefined && (await session.getItems(1)).length === 0) await session.addItems(history);
}
