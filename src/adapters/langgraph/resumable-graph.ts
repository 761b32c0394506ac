import type { BaseMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { RepriseError } from '../../core/error.ts';
import { given, isObject, type JsonValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { propertiesOf } from '../../core/property.ts';
import type { PendingCall, ResumableAgent, ResumeContext } from '../../core/recording/agent.ts';
import { checkDeclared, declaredEffect, type EffectClass } from '../../core/recording/effects.ts';
import { plainJson } from '../../core/recording/plain-json.ts';
import { packages, RepriseCallbackHandler } from './callback-handler.ts';
import { toLangChainMessages } from './langchain-message.ts';
import type { LangGraphRun, MessagesGraph } from './messages-graph.ts';
import { lastText } from './neutral-message.ts';
import { silentTool, toolEffect } from './recorded-tools.ts';
import { pauseBefore, reviewAnswer, SavedGraph, saverOf, unanswered } from './saved-graph.ts';

/** The setup of a graph for one branch. */
export interface GraphSetup<Graph> {
  /** A different graph, such as one built with the model that the branch names. */
  readonly graph?: Graph;
  /** Messages before the history, such as a system message that is part of the state; a resume passes none. */
  readonly messages?: readonly BaseMessage[];
  /** Values of channels other than `messages`. */
  readonly state?: Readonly<Record<string, unknown>>;
  /** Merged over the configuration that `resume` gets. */
  readonly config?: RunnableConfig;
  /** The node that called the model last, for a history that does not name it. */
  readonly node?: string;
}

/** How to resume a graph. */
export interface LangGraphAgentOptions<Graph> {
  /** Its name in the log; the graph's own name if left out. */
  readonly name?: string;
  /** The tools of the graph: with them, open calls are made before the graph continues. */
  readonly tools?: readonly StructuredToolInterface[];
  /** The effect class of each tool by name; `unknown` if left out. */
  readonly effects?: Readonly<Record<string, EffectClass>>;
  /**
   * Returns how the graph runs on a branch. The model, prompt and tools of a compiled graph cannot be changed from
   * outside. So a branch that changes them is refused, unless this builds the graph for it. A branch with open calls is
   * refused, too, unless "tools" are given or this continues from them.
   */
  readonly configure?: (context: ResumeContext) => GraphSetup<Graph> | Promise<GraphSetup<Graph>>;
}

const setupKeys: KnownKeys = optionKeys<GraphSetup<unknown>>(
  'configure the graph',
  { graph: true, messages: true, state: true, config: true, node: true },
  'what configure gives',
);
const agentKeys: KnownKeys = optionKeys<LangGraphAgentOptions<unknown>>(
  'make an agent',
  { name: true, tools: true, effects: true, configure: true },
  'an agent',
);

/**
 * Makes a resumable agent of a compiled graph with a `messages` channel. The result is the graph's own.
 *
 * @example
 * ```ts
 * const graph = new StateGraph(MessagesAnnotation)
 *   .addNode('greet', () => ({ messages: [new AIMessage('Hello!')] }))
 *   .addEdge('__start__', 'greet')
 *   .compile();
 * const agent = langgraphAgent(graph, { name: 'support' });
 * // const { result } = await branch.resume(agent, { run: { recursionLimit: 10 } }); result.messages
 * ```
 */
export function langgraphAgent<Result, Graph extends MessagesGraph<Result> = MessagesGraph<Result>>(
  graph: Graph & MessagesGraph<Result>,
  options: LangGraphAgentOptions<Graph> = {},
): ResumableAgent<LangGraphRun | undefined, Result> {
  checkDeclared(options, agentKeys);
  const name = options.name ?? graph.name;
  const { tools } = options;
  return {
    framework: 'langgraph',
    packages,
    ...(name === undefined || name === 'LangGraph' ? {} : { name }),
    resume: (context, run) => resume(graph, options, context, run ?? {}),
    ...(tools === undefined
      ? {}
      : { callTool: (call, context, run) => callTool(tools, call, configOf(run ?? {}, context, options.effects)) }),
    effectOf: (call) => pendingEffect(options, call),
    goesOnFromCalls: saverOf(graph) !== undefined,
    approvalOf: (call, context) => pauseBefore(graph, call, context),
    answerFor: reviewAnswer,
    textOf: (result) => lastText(result) ?? '',
  };
}

async function resume<Result, Graph extends MessagesGraph<Result>>(
  own: Graph & MessagesGraph<Result>,
  options: LangGraphAgentOptions<Graph>,
  context: ResumeContext,
  run: LangGraphRun,
): Promise<Result> {
  if (options.configure === undefined) {
    refuseChanges(context);
    // Most graphs begin with their model, and providers refuse a call without an answer.
    if (saverOf(own) === undefined && context.pending.length > 0) throw unanswered(context);
  }
  const setup = (await options.configure?.(context)) ?? {};
  checkKeys(setup, setupKeys);
  const graph: MessagesGraph<Result> = setup.graph ?? own;
  const config = configOf({ ...run, ...setup.config }, context, options.effects);
  const history = [...context.messages, ...(context.prompt === undefined ? [] : [context.prompt])];
  const saver = saverOf(graph);
  if (saver !== undefined) return new SavedGraph(graph, saver, { context, config, ...setupOf(setup) }).resume(history);
  const messages = [...(setup.messages ?? []), ...toLangChainMessages(history)];
  return graph.invoke({ ...setup.state, messages } as never, config as never);
}

const setupOf = ({ messages, state, node }: GraphSetup<unknown>) => given({ messages, state, node });

/** Returns the caller's configuration with what recording and stopping need. */
function configOf(
  config: LangGraphRun,
  { recorder, signal }: ResumeContext,
  effects: LangGraphAgentOptions<never>['effects'],
): LangGraphRun {
  const stop = AbortSignal.any([signal, ...(config.signal === undefined ? [] : [config.signal])]);
  const declared = given({ effects });
  const handler = new RepriseCallbackHandler(recorder, { runs: false, signal: stop, ...declared });
  const { checkpoint_id: _id, checkpoint_ns: _ns, ...configurable } = config.configurable ?? {};
  return { ...config, callbacks: withHandler(config.callbacks, handler), signal: stop, configurable };
}

type Callbacks = RunnableConfig['callbacks'];

function withHandler(callbacks: Callbacks, handler: RepriseCallbackHandler): NonNullable<Callbacks> {
  if (callbacks === undefined) return [handler];
  return Array.isArray(callbacks) ? [...callbacks, handler] : callbacks.copy([handler], true);
}

function refuseChanges({ branch, model, system, tools, settings }: ResumeContext): void {
  const said = Object.entries({ model, system, tools, settings }).filter(([, value]) => value !== null);
  if (said.length === 0) return;
  const what = said.map(([key]) => key).join(', ');
  throw new RepriseError(
    'agent.invalid',
    `Cannot resume "${branch}" on a compiled graph: the branch changes its ${what}`,
    {
      hint: 'Pass langgraphAgent() a "configure" that builds the graph from the context.',
      details: { branch, changed: said.map(([key]) => key) },
    },
  );
}

/** Returns the effect class that the options or the recorded tools declare for a call. */
function pendingEffect(
  { tools = [], effects }: Pick<LangGraphAgentOptions<never>, 'tools' | 'effects'>,
  { name }: PendingCall,
): EffectClass | undefined {
  const found = tools.find((tool) => tool.name === name);
  return found === undefined ? declaredEffect(effects, name) : toolEffect(found, effects);
}

/**
 * Executes one of the tools as a graph would, with the configuration of the run but for the id and name that are the
 * graph's own; undefined if there is none of that name. The models and tools that it uses itself are recorded by the
 * handler.
 */
function callTool(
  tools: readonly StructuredToolInterface[],
  { call, name, input }: PendingCall,
  configured: LangGraphRun,
): Promise<JsonValue> | undefined {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) return undefined;
  return (async () => {
    const args = isObject(input) ? { ...input } : { input };
    const { runId: _, runName: __, ...config } = configured;
    const result: unknown = await silentTool(found).invoke({ type: 'tool_call', id: call, name, args }, config);
    return plainJson(propertiesOf(result)['content'] ?? result);
  })();
}
