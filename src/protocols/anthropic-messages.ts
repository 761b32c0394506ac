import {
  arrayAt,
  given,
  isObject,
  type JsonObject,
  type JsonValue,
  numberAt,
  objectAt,
  stringAt,
} from '../core/json.ts';
import type { Message } from '../core/message/message.ts';
import type { Usage } from '../core/recording/recorder.ts';
import { blocksOfMessages, messagesOfBlocks, readBlocks, writeBlocks } from './anthropic-blocks.ts';
import { anthropicFields as fields } from './anthropic-parts.ts';
import { AnthropicFold, anthropicEvents, anthropicSpeaks } from './anthropic-stream.ts';
import { countsOf } from './counts.ts';
import { reading, writing } from './direction.ts';
import { functionTool, otherTool, toolOriginal } from './function-tool.ts';
import { objectsIn } from './message-list.ts';
import type { FromProtocol, ProtocolAnswer, ProtocolRequest, ProtocolTool, ToProtocol } from './protocol.ts';

/**
 * Reads messages, as Anthropic speaks them. Answers of tools are in a user message there, and a separate message here.
 *
 * @example
 * ```ts
 * const { messages } = fromAnthropicMessages.request({
 *   model: 'claude-sonnet-5',
 *   max_tokens: 1024,
 *   messages: [{ role: 'user', content: 'Hello?' }],
 * });
 * const { message, finishReason } = fromAnthropicMessages.answer({
 *   type: 'message',
 *   role: 'assistant',
 *   content: [{ type: 'text', text: 'Hello!' }],
 *   stop_reason: 'end_turn',
 * });
 * ```
 */
export const fromAnthropicMessages: FromProtocol = reading({
  request: readRequest,
  messages: messagesOfBlocks,
  answer: readAnswer,
  fold: () => new AnthropicFold(),
  speaks: anthropicSpeaks,
});

/**
 * Writes messages, as Anthropic speaks them. System messages at the beginning are not among them: `request` puts those
 * where the protocol has them.
 *
 * @example
 * ```ts
 * const { messages } = await session.at('main@4').fold(conversation);
 * const sent = toAnthropicMessages.messages(messages); // for `client.messages.create({ model, max_tokens, messages: sent })`
 * ```
 */
export const toAnthropicMessages: ToProtocol = writing({
  path: () => '/v1/messages',
  request: writeRequest,
  messages: (messages) => blocksOfMessages(withoutSystem(messages)),
  tools: (tools) => tools.map(writeTool),
  answer: writeAnswer,
  events: anthropicEvents,
});

function readRequest(body: JsonObject): ProtocolRequest {
  const { model, stream, system, messages: sent, tools: _, ...settings } = body;
  const isPlain = typeof system === 'string';
  const first: readonly Message[] =
    isPlain || system === undefined ? [] : [{ role: 'system', content: readBlocks(objectsIn(system), 'system') }];
  const tools = arrayAt(body, 'tools')?.map(readTool);
  return {
    model: typeof model === 'string' ? model : '',
    ...(typeof stream === 'boolean' ? { stream } : {}),
    messages: [...first, ...messagesOfBlocks(objectsIn(sent))],
    ...(isPlain ? { system } : {}),
    ...given({ tools }),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
  };
}

function writeRequest({ model, stream, system, messages, tools, settings }: ProtocolRequest): JsonObject {
  const leading = messages.slice(0, messages.length - withoutSystem(messages).length);
  const blocks = leading.flatMap((message) => writeBlocks(message));
  const told = system === undefined ? [] : [{ type: 'text', text: system }];
  const sent = blocks.length === 0 ? system : [...told, ...blocks];
  return {
    model,
    messages: blocksOfMessages(withoutSystem(messages)),
    ...given({ stream, system: sent, tools: tools?.map(writeTool) }),
    ...settings,
  };
}

/** Takes out the system messages at the beginning, unless they were sent among the others. */
function withoutSystem(messages: readonly Message[]): readonly Message[] {
  const isApart = (message: Message): boolean => message.role === 'system' && fields.of(message)['at'] !== 'messages';
  const begin = messages.findIndex((message) => !isApart(message));
  return begin < 0 ? [] : messages.slice(begin);
}

function readTool(tool: JsonValue): ProtocolTool & JsonObject {
  const type = stringAt(tool, 'type') ?? 'custom';
  if (type !== 'custom' || !isObject(tool)) return otherTool(fields, tool);
  const { name, description, input_schema: inputSchema, ...rest } = tool;
  return functionTool(fields, { name, description, inputSchema }, rest);
}

function writeTool(tool: JsonValue): JsonObject {
  const { original, name, description, inputSchema, own } = toolOriginal(fields, tool);
  return original ?? { name, ...given({ description }), input_schema: inputSchema ?? { type: 'object' }, ...own };
}

const reasons: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
};
const rawReasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
};

function readAnswer(body: JsonObject): ProtocolAnswer {
  const { content, role: _, ...provider } = body;
  const error = objectAt(body, 'error');
  const raw = stringAt(body, 'stop_reason');
  return {
    ...(content === undefined
      ? {}
      : { message: { role: 'assistant', content: readBlocks(objectsIn(content), 'assistant') } }),
    ...(raw === undefined ? {} : { finishReason: reasons[raw] ?? raw }),
    ...given({ usage: readUsage(body['usage']) }),
    ...(error === undefined
      ? {}
      : {
          error: {
            message: stringAt(error, 'message') ?? JSON.stringify(error),
            ...given({ type: stringAt(error, 'type') }),
          },
        }),
    provider,
  };
}

function writeAnswer({ message, finishReason, usage, error, provider }: ProtocolAnswer): JsonObject {
  if (error !== undefined && message === undefined) {
    const { message: text, type = 'api_error' } = error;
    return { type: 'error', error: { type, message: text }, request_id: null, ...provider };
  }
  return {
    type: 'message',
    role: 'assistant',
    content: message === undefined ? [] : writeBlocks(message),
    stop_reason: finishReason === undefined ? null : (rawReasons[finishReason] ?? finishReason),
    stop_sequence: null,
    ...given({ usage: usage === undefined ? undefined : writeUsage(usage) }),
    ...provider,
  };
}

/** Here the tokens of the cache are not among the input tokens. */
function readUsage(usage: JsonValue | undefined): Usage | undefined {
  const counts = countsOf(usage, {
    outputTokens: ['output_tokens'],
    cachedInputTokens: ['cache_read_input_tokens'],
    cacheWriteTokens: ['cache_creation_input_tokens'],
    reasoningTokens: ['output_tokens_details', 'thinking_tokens'],
  });
  const fresh = numberAt(usage, 'input_tokens');
  if (fresh === undefined) return counts;
  const inputTokens = fresh + (counts?.cachedInputTokens ?? 0) + (counts?.cacheWriteTokens ?? 0);
  return { ...counts, inputTokens, totalTokens: inputTokens + (counts?.outputTokens ?? 0) };
}

function writeUsage(usage: Usage): JsonObject {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0, reasoningTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens),
    cache_read_input_tokens: cachedInputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    output_tokens: outputTokens,
    ...(reasoningTokens === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  };
}
