import {
  type Agent,
  type AgentOutputType,
  type NonStreamRunOptions,
  Runner,
  type RunResult,
  type RunStreamEvent,
  type Session,
  type StreamedRunResult,
} from '@openai/agents';
import type { ResumableAgent, ResumeContext } from '../../core/agent.ts';
import { RepriseError } from '../../core/error.ts';
import { type Message, toolResultsIn } from '../../core/message.ts';
import type { Recorder } from '../../core/recorder.ts';
import { itemsFromMessages } from './items-from-messages.ts';
import { fieldsOf, textOfValue } from './provider-fields.ts';
import { type RecordAgentOptions, recordAgent } from './recorded-agent.ts';
import { recordModel, recordModels } from './recorded-model.ts';
import { agentAfter, agentAsBranchSays, callToolOf, ownModelName } from './resumed-agent.ts';
import { rememberAnswer, toolAnswersOf } from './tool-answers.ts';

/** How an agent is made ready to be resumed. */
export interface OpenAIAgentOptions<TContext = unknown> extends RecordAgentOptions {
  /** Models, guardrails and the like; a runner with the framework's defaults if left out. */
  readonly runner?: Runner;
  /** What the tools get as their context, unless the run is given one. */
  readonly context?: TContext;
}

/** The same, for a run that is streamed. */
export interface StreamedAgentOptions<TContext = unknown> extends OpenAIAgentOptions<TContext> {
  /** Makes the run a streamed one, and is told every event as it comes. */
  readonly onEvent: (event: RunStreamEvent) => void;
}

/** What the framework's run call takes beside the input. */
export type OpenAIRunOptions<TContext, TOutput extends AgentOutputType> = NonStreamRunOptions<
  TContext,
  Agent<TContext, TOutput>
>;

/**
 * An agent of OpenAI Agents as one that can continue a branch. History, prompt and settings are the branch's; whoever
 * had the floor goes on. The result is the framework's own.
 *
 * A framework session among the run options is not read, so it cannot replace the history: an empty one is given the
 * branch's history when the run has ended, one that holds anything is left alone.
 *
 * @example
 * ```ts
 * const agent = openaiAgent(new Agent({ name: 'support' }), { effects: { refund: 'irreversible' } });
 * ```
 */
export function openaiAgent<TContext, TOutput extends AgentOutputType>(
  agent: Agent<TContext, TOutput>,
  options: StreamedAgentOptions<TContext>,
): ResumableAgent<OpenAIRunOptions<TContext, TOutput> | undefined, StreamedRunResult<TContext, Agent<TContext, TOutput>>>;
export function openaiAgent<TContext, TOutput extends AgentOutputType>(
  agent: Agent<TContext, TOutput>,
  options?: OpenAIAgentOptions<TContext>,
): ResumableAgent<OpenAIRunOptions<TContext, TOutput> | undefined, RunResult<TContext, Agent<TContext, TOutput>>>;
export function openaiAgent<TContext, TOutput extends AgentOutputType>(
  agent: Agent<TContext, TOutput>,
  options: OpenAIAgentOptions<TContext> & Partial<StreamedAgentOptions<TContext>> = {},
): ResumableAgent<OpenAIRunOptions<TContext, TOutput> | undefined, unknown> {
  return {
    framework: 'openai-agents',
    name: agent.name,
    resume: (context, run) => resumed(agent, { context, run: run ?? {}, options }),
    callTool: (call, context) => callToolOf(agentAfter(agent as never, context.messages), call, options.context),
    textOf: (result) => textOfValue((result as { finalOutput?: string }).finalOutput ?? '', undefined),
  };
}

interface Resuming<TContext, TOutput extends AgentOutputType> {
  readonly context: ResumeContext;
  readonly run: OpenAIRunOptions<TContext, TOutput>;
  readonly options: OpenAIAgentOptions<TContext> & Partial<StreamedAgentOptions<TContext>>;
}

async function resumed<TContext, TOutput extends AgentOutputType>(
  agent: Agent<TContext, TOutput>,
  { context, run, options }: Resuming<TContext, TOutput>,
): Promise<unknown> {
  refuseServerHistory(run);
  const { recorder } = context;
  const given = options.runner ?? new Runner();
  const history = [...context.messages, ...(context.prompt === undefined ? [] : [context.prompt])];
  knowAnswers(history, recorder);
  // Ids of what a model said refer to its reasoning: without the one, the provider refuses the other.
  const ids = !context.repairs.some(({ rule }) => rule === 'foreign-reasoning');
  const items = itemsFromMessages(history, { ids });
  const acting = agentAfter(agent as never, context.messages) as unknown as Agent<TContext, TOutput>;
  const told = agentAsBranchSays(acting as never, context, ownModelName(acting, given.config.model));
  const ready = recordAgent(told as Agent<TContext, TOutput>, recorder, options);
  const { session, signal, ...rest } = run;
  const own = options.context === undefined ? {} : { context: options.context };
  const signals = signal === undefined ? context.signal : AbortSignal.any([signal, context.signal]);
  const runOptions = { ...own, ...rest, signal: signals };
  const result = await ran(recordingRunner(given, recorder), { agent: ready, items, runOptions, options });
  await fill(session, result.history);
  return result;
}

interface Running<TContext, TOutput extends AgentOutputType> {
  readonly agent: Agent<TContext, TOutput>;
  readonly items: ReturnType<typeof itemsFromMessages>;
  readonly runOptions: OpenAIRunOptions<TContext, TOutput>;
  readonly options: Partial<StreamedAgentOptions<TContext>>;
}

async function ran<TContext, TOutput extends AgentOutputType>(
  runner: Runner,
  { agent, items, runOptions, options }: Running<TContext, TOutput>,
): Promise<{ readonly history: ReturnType<typeof itemsFromMessages> }> {
  const { onEvent } = options;
  if (onEvent === undefined) return runner.run(agent, items, runOptions);
  const streamed = await runner.run(agent, items, { ...runOptions, stream: true });
  for await (const event of streamed) onEvent(event);
  await streamed.completed;
  return streamed;
}

/** A runner like the given one whose models are recorded; its listeners hear of the run. */
function recordingRunner(given: Runner, recorder: Recorder): Runner {
  const { model, modelProvider } = given.config;
  const runner = new Runner({
    ...given.config,
    modelProvider: recordModels(modelProvider, recorder),
    ...(model === undefined ? {} : { model: typeof model === 'string' ? model : recordModel(model, recorder) }),
  });
  runner.emit = given.emit.bind(given);
  return runner;
}

/** A history that a server keeps would take the place of the branch's. */
function refuseServerHistory(run: object): void {
  const options = run as Readonly<Record<string, unknown>>;
  const refused = ['conversationId', 'previousResponseId'].find((name) => options[name] !== undefined);
  if (refused !== undefined) {
    throw new RepriseError('resume.invalid', `Cannot resume with "${refused}": the history is the branch's own`, {
      hint: `Leave "${refused}" out: the whole history of the branch is sent.`,
    });
  }
  if (options['stream'] === true) {
    throw new RepriseError('resume.invalid', 'Cannot resume with "stream": a resumed run has ended when it comes back', {
      hint: 'Give openaiAgent() an "onEvent" function: it is told every event as it comes.',
    });
  }
}

/** Results of the history go into lists again as what they are. */
function knowAnswers(messages: readonly Message[], recorder: Recorder): void {
  const answers = toolAnswersOf(recorder);
  for (const message of messages) {
    for (const part of toolResultsIn(message)) {
      const { toolCallId, output, isError = false } = part;
      const text = textOfValue(output, fieldsOf(part)['text']);
      rememberAnswer(answers, toolCallId, { text, output, isError });
    }
  }
}

/** The program's own session is only written to if there was nothing in it. */
async function fill(
  session: Session | undefined,
  history: ReturnType<typeof itemsFromMessages>,
): Promise<void> {
  if (session !== undefined && (await session.getItems(1)).length === 0) await session.addItems(history);
}
