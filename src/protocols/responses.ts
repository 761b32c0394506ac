import { arrayAt, given, isObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../core/json.ts';
import { type Message, type MessagePart, textOf } from '../core/message/message.ts';
import type { Usage } from '../core/recording/recorder.ts';
import { countsOf } from './counts.ts';
import { reading, writing } from './direction.ts';
import { functionTool, otherTool, toolOriginal } from './function-tool.ts';
import { objectsIn } from './message-list.ts';
import type { FromProtocol, ProtocolAnswer, ProtocolRequest, ProtocolTool, ToProtocol } from './protocol.ts';
import { responseFields as fields, readItems, readSaid, writeItems } from './response-items.ts';
import { ResponseFold, responseEvents, responseSpeaks } from './responses-stream.ts';

/**
 * Reads responses, as OpenAI speaks them. One answer of a model is several items there and one message here.
 *
 * @example
 * ```ts
 * const { messages } = fromResponses.request({ model: 'gpt-5', instructions: 'Be brief.', input: 'Hello?' });
 * const { message, finishReason } = fromResponses.answer({
 *   status: 'completed',
 *   output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello!' }] }],
 * });
 * ```
 */
export const fromResponses: FromProtocol = reading({
  request: readRequest,
  messages: readItems,
  answer: readAnswer,
  fold: () => new ResponseFold(),
  speaks: responseSpeaks,
});

/**
 * Writes responses.
 *
 * @example
 * ```ts
 * const { messages } = await session.at('main@4').fold(conversation);
 * const input = toResponses.messages(messages); // for `client.responses.create({ model, input })`
 * ```
 */
export const toResponses: ToProtocol = writing({
  path: () => '/responses',
  request: writeRequest,
  messages: writeItems,
  tools: (tools) => tools.map(writeTool),
  answer: writeAnswer,
  events: responseEvents,
});

function readRequest(body: JsonObject): ProtocolRequest {
  const { model, input, stream, instructions, tools: _, ...settings } = body;
  const isText = typeof input === 'string';
  const messages = isText
    ? [fields.add({ role: 'user', content: input } satisfies Message, { input: 'text' })]
    : readItems(objectsIn(input));
  const offered = arrayAt(body, 'tools')?.map(readTool);
  const other = typeof instructions === 'string' ? {} : given({ instructions });
  const rest = { ...settings, ...other };
  return {
    model: typeof model === 'string' ? model : '',
    ...(typeof stream === 'boolean' ? { stream } : {}),
    messages,
    ...(typeof instructions === 'string' ? { system: instructions } : {}),
    ...given({ tools: offered }),
    ...(Object.keys(rest).length > 0 ? { settings: rest } : {}),
  };
}

function writeRequest({ model, stream, system, messages, tools, settings }: ProtocolRequest): JsonObject {
  const [only, second] = messages;
  const isText = only !== undefined && second === undefined && fields.of(only)['input'] === 'text';
  return {
    model,
    input: isText ? textOf(only) : writeItems(messages),
    ...given({ stream, instructions: system, tools: tools?.map(writeTool) }),
    ...settings,
  };
}

function readTool(tool: JsonValue): ProtocolTool & JsonObject {
  if (stringAt(tool, 'type') !== 'function' || !isObject(tool)) return otherTool(fields, tool);
  const { type: _, name, description, parameters, ...rest } = tool;
  return functionTool(fields, { name, description, inputSchema: parameters }, rest);
}

function writeTool(tool: JsonValue): JsonObject {
  const { original, name, description, inputSchema, own } = toolOriginal(fields, tool);
  return original ?? { type: 'function', name, ...given({ description, parameters: inputSchema }), ...own };
}

const incomplete: Readonly<Record<string, string>> = { max_output_tokens: 'length', content_filter: 'content-filter' };
const rawIncomplete: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
};

function readAnswer(body: JsonObject): ProtocolAnswer {
  const { output, ...provider } = body;
  const said = output === undefined ? undefined : readSaid(objectsIn(output));
  const error = objectAt(body, 'error');
  const finishReason = reasonOf(body, said?.content ?? []);
  return {
    ...given({ message: said, finishReason, usage: readUsage(body['usage']) }),
    ...(error === undefined
      ? {}
      : {
          error: {
            message: stringAt(error, 'message') ?? JSON.stringify(error),
            ...given({ type: stringAt(error, 'type'), code: stringAt(error, 'code') }),
          },
        }),
    provider,
  };
}

function reasonOf(body: JsonObject, content: Message['content']): string | undefined {
  if (body['status'] === 'completed') return asksForTools(content) ? 'tool-calls' : 'stop';
  const reason = stringAt(body['incomplete_details'], 'reason');
  return body['status'] === 'incomplete' && reason !== undefined ? (incomplete[reason] ?? reason) : undefined;
}

const asksForTools = (content: Message['content']): boolean =>
  typeof content !== 'string' && content.some((part: MessagePart) => part.type === 'tool-call');

/** Returns an item as an answer has it, where a message has no shorter form. Text of a different provider is written so. */
function asOutput(item: JsonObject): JsonObject {
  if (typeof item['content'] !== 'string' || item['type'] !== undefined) return item;
  const content = [{ type: 'output_text', text: item['content'], annotations: [] }];
  return { type: 'message', status: 'completed', ...item, content };
}

function writeAnswer({ message, finishReason, usage, error, provider }: ProtocolAnswer): JsonObject {
  if (error !== undefined && message === undefined && provider['object'] === undefined) {
    const { message: text, type = null, code = null } = error;
    return { error: { message: text, type, param: null, code }, ...provider };
  }
  const reason = finishReason === undefined ? undefined : rawIncomplete[finishReason];
  const isDone = finishReason !== undefined && reason === undefined;
  return {
    object: 'response',
    status: isDone ? 'completed' : reason === undefined ? 'in_progress' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    error: null,
    ...given({ usage: usage === undefined ? undefined : writeUsage(usage) }),
    ...provider,
    ...(message === undefined ? {} : { output: writeItems([message]).map(asOutput) }),
  };
}

function readUsage(usage: JsonValue | undefined): Usage | undefined {
  return countsOf(usage, {
    inputTokens: ['input_tokens'],
    outputTokens: ['output_tokens'],
    totalTokens: ['total_tokens'],
    cachedInputTokens: ['input_tokens_details', 'cached_tokens'],
    cacheWriteTokens: ['input_tokens_details', 'cache_write_tokens'],
    reasoningTokens: ['output_tokens_details', 'reasoning_tokens'],
  });
}

function writeUsage(usage: Usage): JsonObject {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: cachedInputTokens,
      ...(cacheWriteTokens > 0 ? { cache_write_tokens: cacheWriteTokens } : {}),
    },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: usage.totalTokens ?? inputTokens + outputTokens,
  };
}
