import { type BaseMessage, isBaseMessage } from '@langchain/core/messages';
import type { LLMResult } from '@langchain/core/outputs';
import { convertToOpenAITool, isLangChainTool } from '@langchain/core/utils/function_calling';
import { given, isObject, type JsonValue } from '../../core/json.ts';
import type { Message } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import { plainJson, plainObject } from '../../core/recording/plain-json.ts';
import type { CallEnd, CallStart, ModelRequest, Usage } from '../../core/recording/recorder.ts';
import { fromLangChainMessages } from './neutral-message.ts';

/** The arguments of LangChain's callback for a model call. */
export interface ModelStart {
  readonly model: unknown;
  readonly messages: readonly Message[];
  readonly extra: Readonly<Record<string, unknown>> | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
}

/** Returns the start of a model call. */
export function modelCallStart({ model, messages, extra, metadata }: ModelStart): CallStart {
  const invocation = propertiesOf(extra?.['invocation_params']);
  const options = propertiesOf(extra?.['options']);
  const { tools, functions, messages: _sent, ...settings } = invocation;
  const given = tools ?? options['tools'] ?? functions;
  return {
    kind: 'model',
    name: modelName(model, invocation, metadata),
    request: {
      ...ownPrompt(messages),
      ...(Array.isArray(given) && given.length > 0 ? { tools: given.map(toolJson) } : {}),
      ...(Object.keys(settings).length === 0 ? {} : { settings: plainObject(settings) }),
    },
  };
}

/**
 * Separates the graph's own prompt, which is put before the messages of its state for each call. It has no id, unlike
 * the messages of a state. If it were recorded among them, a resumed graph would get it twice.
 */
function ownPrompt(messages: readonly Message[]): Pick<ModelRequest, 'messages' | 'system'> {
  const [first, ...rest] = messages;
  if (first?.role !== 'system' || typeof first.content !== 'string') return { messages };
  const isOfState = Object.hasOwn(first, 'id') || rest[0]?.role === 'system';
  return isOfState ? { messages } : { system: first.content, messages: rest };
}

function modelName(
  model: unknown,
  invocation: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>> | undefined,
): string {
  const { kwargs, id } = propertiesOf(model);
  const made = propertiesOf(kwargs);
  const names = [
    metadata?.['ls_model_name'],
    invocation['model'],
    invocation['model_name'],
    made['model'],
    made['model_name'],
    Array.isArray(id) ? id.at(-1) : undefined,
  ];
  return names.find((name): name is string => typeof name === 'string' && name !== '') ?? 'model';
}

/** Returns a tool as it is described to a provider; most models already get it so. */
function toolJson(tool: unknown): JsonValue {
  try {
    return plainJson(isLangChainTool(tool) ? convertToOpenAITool(tool) : tool);
  } catch {
    const { name, description } = propertiesOf(tool);
    return plainJson({ name, description });
  }
}

/** Returns the end of a model call. */
export function modelCallEnd(output: LLMResult): CallEnd {
  const generation = propertiesOf(output.generations[0]?.[0]);
  const message = isBaseMessage(generation['message']) ? generation['message'] : undefined;
  const about = { ...propertiesOf(generation['generationInfo']), ...propertiesOf(message?.response_metadata) };
  const finishReason = about['finish_reason'] ?? about['stop_reason'] ?? about['finishReason'];
  const usage = usageOf(propertiesOf(message)['usage_metadata'], propertiesOf(output.llmOutput));
  const said: Message | undefined =
    message === undefined ? { role: 'assistant', content: String(generation['text'] ?? '') } : neutral(message);
  return {
    ...given({ message: said }),
    ...(typeof finishReason === 'string' ? { finishReason } : {}),
    ...given({ usage }),
    ...(Object.keys(about).length === 0 ? {} : { provider: plainObject(about) }),
  };
}

/** Returns a message in the neutral form. */
function neutral(message: BaseMessage): Message | undefined {
  return fromLangChainMessages([message])[0];
}

const usageNames = {
  inputTokens: ['input_tokens'],
  outputTokens: ['output_tokens'],
  totalTokens: ['total_tokens'],
  cachedInputTokens: ['input_token_details', 'cache_read'],
  cacheWriteTokens: ['input_token_details', 'cache_creation'],
  reasoningTokens: ['output_token_details', 'reasoning'],
} as const satisfies Record<keyof Usage, readonly string[]>;

function usageOf(metadata: unknown, llmOutput: Readonly<Record<string, unknown>>): Usage | undefined {
  const counted = propertiesOf(llmOutput['tokenUsage'] ?? llmOutput['estimatedTokenUsage']);
  const source = isObject(metadata)
    ? metadata
    : plainObject({
        input_tokens: counted['promptTokens'],
        output_tokens: counted['completionTokens'],
        total_tokens: counted['totalTokens'],
      });
  const usage: Record<string, number> = {};
  for (const [name, path] of Object.entries(usageNames)) {
    const held = path.reduce<unknown>((value, key) => propertiesOf(value)[key], source);
    if (typeof held === 'number') usage[name] = held;
  }
  return Object.keys(usage).length === 0 ? undefined : usage;
}
