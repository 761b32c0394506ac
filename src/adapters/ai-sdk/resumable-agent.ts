import {
  type AgentCallParameters,
  asSchema,
  type GenerateTextResult,
  generateText,
  type OutputInterface,
  type ToolLoopAgent,
  type ToolLoopAgentSettings,
  type ToolSet,
} from 'ai';
import { given, isObject, type JsonValue } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { propertiesOf } from '../../core/property.ts';
import type { PendingCall, ResumableAgent, ResumeContext } from '../../core/recording/agent.ts';
import { agreedEffects, checkDeclared, type EffectClass } from '../../core/recording/effects.ts';
import { type AgentSettings, type AnyAgent, agentSettings, isAgent, withSettings } from './agent-settings.ts';
import { toModelMessages } from './model-message.ts';
import { plainJson } from './plain-json.ts';
import { originalAgent, recordedEffects } from './recorded-agent.ts';
import { originalModel } from './recorded-model.ts';
import { recordedSettings } from './recorded-settings.ts';
import { executed, originalTool, toolEffect } from './recorded-tools.ts';
import { packages, plainTarget } from './recording-target.ts';
import { branchSettings, type ModelSource, resumedMessages } from './resumed-call.ts';
import { approvalNeeded, deniedAnswer, recordRequests } from './tool-approval.ts';

/** How to resume an agent of the AI SDK. */
export interface AiSdkAgentOptions {
  /** Its name in the log; the id of a `ToolLoopAgent` if left out. */
  readonly name?: string;
  /** Finds the model if a branch names a different one than the agent's own. */
  readonly models?: ModelSource;
  /** The effect class of each tool by name; `unknown` if left out. */
  readonly effects?: Readonly<Record<string, EffectClass>>;
}

const agentKeys: KnownKeys = optionKeys<AiSdkAgentOptions>(
  'make an agent',
  { name: true, models: true, effects: true },
  'an agent',
);

/** The options of `generateText`. */
export type GenerateOptions<
  TOOLS extends ToolSet,
  CONTEXT extends Record<string, unknown>,
  OUTPUT extends OutputInterface,
> = Parameters<typeof generateText<TOOLS, CONTEXT, OUTPUT>>[0];

/** The options of `generateText` without the conversation: an agent as settings. */
export type AiSdkSettings<
  TOOLS extends ToolSet = ToolSet,
  CONTEXT extends Record<string, unknown> = Record<string, unknown>,
  OUTPUT extends OutputInterface = OutputInterface<string, string>,
> = Omit<GenerateOptions<TOOLS, CONTEXT, OUTPUT>, 'prompt' | 'messages'>;

/** The options that `resume` passes to `generateText` unchanged. */
export type AiSdkRun<
  TOOLS extends ToolSet = ToolSet,
  CONTEXT extends Record<string, unknown> = Record<string, unknown>,
> = Partial<Omit<GenerateOptions<TOOLS, CONTEXT, OutputInterface>, 'prompt' | 'messages'>>;

/** The options that `resume` passes to the `generate` of a `ToolLoopAgent` unchanged. */
export type ToolLoopRun<
  CALL = never,
  TOOLS extends ToolSet = ToolSet,
  CONTEXT extends Record<string, unknown> = Record<string, unknown>,
> = Partial<
  Omit<AgentCallParameters<CALL, TOOLS, CONTEXT>, 'prompt' | 'messages'> &
    ToolLoopAgentSettings<CALL, TOOLS, CONTEXT, OutputInterface>
>;

/**
 * Makes a resumable agent of a `ToolLoopAgent`, or of the settings for `generateText`. The result is that of the AI
 * SDK.
 *
 * @example
 * ```ts
 * const agent = aiSdkAgent({ model, system: 'Be brief.' }, { name: 'support' });
 * const { result } = await branch.resume(agent, { run: { maxRetries: 2 } });
 * console.log(result.text);
 * ```
 */
export function aiSdkAgent<
  CALL,
  TOOLS extends ToolSet,
  CONTEXT extends Record<string, unknown>,
  OUTPUT extends OutputInterface,
>(
  agent: ToolLoopAgent<CALL, TOOLS, CONTEXT, OUTPUT>,
  options?: AiSdkAgentOptions,
): ResumableAgent<ToolLoopRun<CALL, TOOLS, CONTEXT>, GenerateTextResult<TOOLS, CONTEXT, OUTPUT>>;
export function aiSdkAgent<
  TOOLS extends ToolSet,
  CONTEXT extends Record<string, unknown> = Record<string, unknown>,
  OUTPUT extends OutputInterface = OutputInterface<string, string>,
>(
  settings: AiSdkSettings<TOOLS, CONTEXT, OUTPUT>,
  options?: AiSdkAgentOptions,
): ResumableAgent<AiSdkRun<TOOLS, CONTEXT>, GenerateTextResult<TOOLS, CONTEXT, OUTPUT>>;
export function aiSdkAgent(source: object, declared: AiSdkAgentOptions = {}): ResumableAgent<object, AnyResult> {
  checkDeclared(declared, agentKeys);
  const recorded = isAgent(source) ? recordedEffects(source) : undefined;
  const options = { ...declared, effects: agreedEffects(declared.effects, recorded) };
  const agent = isAgent(source) ? originalAgent(source) : undefined;
  const own = agent === undefined ? (source as AgentSettings) : agentSettings(agent);
  const name = options.name ?? agent?.id;
  const model = own.model === undefined ? undefined : originalModel(own.model);
  return {
    framework: 'ai-sdk',
    packages,
    ...given({ name }),
    ...(model === undefined ? {} : { model: typeof model === 'string' ? model : model.modelId }),
    resume: (context, run) => resume({ agent, own, options }, context, run as AgentSettings | undefined),
    inputOf: (call) => checkedInput(own, call),
    approvalOf: (call, context) => approvalNeeded(settingsIn(context.run, own), call, context),
    denied: (_call, approval) => deniedAnswer(approval),
    isForCaller: ({ name: tool }) => isForCaller(own.tools?.[tool]),
    callTool: (call, context, run) => callTool(settingsIn(run, own), call, context),
    effectOf: ({ name: tool }) => toolEffect(own.tools?.[tool], tool, options.effects),
    textOf: ({ text }) => text,
  };
}

interface AnyResult {
  readonly text: string;
  readonly content?: unknown;
}

interface Resumable {
  readonly agent: AnyAgent | undefined;
  readonly own: AgentSettings;
  readonly options: AiSdkAgentOptions;
}

async function resume(
  { agent, own, options }: Resumable,
  context: ResumeContext,
  run: AgentSettings = {},
): Promise<AnyResult> {
  const { effects, models } = options;
  const recording = { target: plainTarget(context.recorder, undefined), ...given({ effects }) };
  const settings = { ...own, ...(await branchSettings(own, context, models)) };
  const messages = await resumedMessages(context, settings.tools ?? {});
  const signals = [context.signal, run['abortSignal']].filter((signal) => signal instanceof AbortSignal);
  const call = {
    ...recordedSettings(run, recording),
    messages,
    abortSignal: AbortSignal.any(signals),
    ...(messages.some(({ role }) => role === 'system') ? { allowSystemInMessages: true } : {}),
  };
  const recorded = recordedSettings(settings, recording);
  const running: { generate(call: object): Promise<AnyResult> } =
    agent === undefined
      ? { generate: (given) => generateText({ ...recorded, ...given } as GenerateCall) }
      : withSettings(agent, recorded);
  const result = await running.generate(call);
  await recordRequests(context.recorder, result.content);
  return result;
}

type GenerateCall = Parameters<typeof generateText>[0];

/** Returns true if the caller executes a tool: it has no `execute`, and the provider does not execute it. */
const isForCaller = (tool: ToolSet[string] | undefined): boolean =>
  tool !== undefined && tool.execute === undefined && tool.type !== 'provider';

/**
 * Returns the settings of a pending call: those of the agent, with what the run says about the context and the approval
 * of tools. The tools stay the agent's own, whose effect classes are known.
 */
function settingsIn(run: object | undefined, own: AgentSettings): AgentSettings {
  const { toolsContext, runtimeContext, toolApproval } = propertiesOf(run);
  return { ...own, ...given({ toolsContext, runtimeContext, toolApproval }) };
}

/** Executes one of the agent's tools. */
function callTool(own: AgentSettings, call: PendingCall, context: ResumeContext): Promise<JsonValue> | undefined {
  const tool = own.tools?.[call.name];
  if (tool?.execute === undefined) return undefined;
  const options = {
    toolCallId: call.call,
    messages: toModelMessages(context.messages),
    abortSignal: context.signal,
    context: propertiesOf(own['toolsContext'])[call.name],
  };
  const input = isObject(call.input) ? (checkedValues.get(call.input) ?? call.input) : call.input;
  return executed(originalTool(tool), input, options).then(plainJson);
}

/** The arguments that a schema returned, by their JSON: the tool gets a date, the log has its text. */
const checkedValues = new WeakMap<object, unknown>();

/**
 * Returns the arguments as the AI SDK passes them to a tool: checked by its schema, which may fill in and change some.
 */
async function checkedInput(own: AgentSettings, { name, input }: PendingCall): Promise<JsonValue> {
  const tool = own.tools?.[name];
  const checked = tool === undefined ? undefined : await asSchema(tool.inputSchema).validate?.(input);
  if (checked === undefined) return input;
  if (!checked.success) throw checked.error;
  const json = plainJson(checked.value);
  if (isObject(json)) checkedValues.set(json, checked.value);
  return json;
}
