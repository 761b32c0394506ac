import { arrayAt, given, isObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../core/json.ts';
import { type Message, type MessagePart, partsOf, type ToolCallPart } from '../core/message/message.ts';
import type { Usage } from '../core/recording/recorder.ts';
import { ChatFold, chatEvents, chatSpeaks } from './chat-completions-stream.ts';
import { contentOfPart, partOfContent } from './chat-content.ts';
import { countsOf } from './counts.ts';
import { reading, writing } from './direction.ts';
import { functionTool, otherTool, toolOriginal } from './function-tool.ts';
import { asText, textOfValue, valueOfText } from './json-text.ts';
import { askedName, objectsIn, plainSystem, withoutKeys } from './message-list.ts';
import type { FromProtocol, ProtocolAnswer, ProtocolRequest, ProtocolTool, ToProtocol } from './protocol.ts';
import { providerFields } from './provider-fields.ts';

const fields = providerFields('openaiChat');

/**
 * Reads chat completions, as OpenAI and those who copy it speak them.
 *
 * @example
 * ```ts
 * const { system, messages } = fromChatCompletions.request({
 *   model: 'gpt-5',
 *   messages: [
 *     { role: 'system', content: 'Be brief.' },
 *     { role: 'user', content: 'Hello?' },
 *   ],
 * });
 * const { message, usage } = fromChatCompletions.answer({
 *   choices: [{ message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
 *   usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
 * });
 * ```
 */
export const fromChatCompletions: FromProtocol = reading({
  request: readRequest,
  messages: readMessages,
  answer: readAnswer,
  fold: () => new ChatFold(),
  speaks: chatSpeaks,
});

/**
 * Writes chat completions.
 *
 * @example
 * ```ts
 * const { messages } = await session.at('main@4').fold(conversation);
 * const sent = toChatCompletions.messages(messages); // for `client.chat.completions.create({ model, messages: sent })`
 * ```
 */
export const toChatCompletions: ToProtocol = writing({
  path: () => '/chat/completions',
  request: writeRequest,
  messages: (messages) => messages.flatMap(writeMessage),
  tools: (tools) => tools.map(writeTool),
  answer: writeAnswer,
  events: chatEvents,
});

function readRequest(body: JsonObject): ProtocolRequest {
  const all = readMessages(objectsIn(body['messages']));
  const { system, messages } = plainSystem(all);
  const tools = arrayAt(body, 'tools')?.map(readTool);
  const settings = withoutKeys(body, ['model', 'messages', 'tools', 'stream']);
  const stream = body['stream'];
  return {
    model: stringAt(body, 'model') ?? '',
    ...(typeof stream === 'boolean' ? { stream } : {}),
    messages,
    ...given({ system, tools }),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
  };
}

function writeRequest({ model, stream, system, messages, tools, settings }: ProtocolRequest): JsonObject {
  const first: readonly Message[] = system === undefined ? [] : [{ role: 'system', content: system }];
  return {
    model,
    messages: [...first, ...messages].flatMap(writeMessage),
    ...given({ stream, tools: tools?.map(writeTool) }),
    ...settings,
  };
}

function readTool(tool: JsonValue): ProtocolTool & JsonObject {
  const called = objectAt(tool, 'function');
  if (stringAt(tool, 'type') !== 'function' || called === undefined) return otherTool(fields, tool);
  const { name, description, parameters, ...rest } = called;
  const more = withoutKeys(tool as JsonObject, ['type', 'function']);
  return functionTool(
    fields,
    { name, description, inputSchema: parameters },
    { ...rest, ...given({ more: filled(more) }) },
  );
}

function writeTool(tool: JsonValue): JsonObject {
  const { original, name, description, inputSchema, own } = toolOriginal(fields, tool);
  if (original !== undefined) return original;
  const { more, ...rest } = own;
  const called = given({ name, description, parameters: inputSchema });
  return { type: 'function', function: { ...called, ...rest }, ...(isObject(more) ? more : {}) };
}

/** Returns an object that is not empty, or undefined. */
const filled = (value: JsonObject): JsonObject | undefined => (Object.keys(value).length > 0 ? value : undefined);

function readMessages(list: readonly JsonObject[]): readonly Message[] {
  const messages: Message[] = [];
  for (const message of list) messages.push(readMessage(message, messages));
  return messages;
}

function readMessage(message: JsonObject, before: readonly Message[]): Message {
  const { role, content, ...rest } = message;
  switch (role) {
    case 'assistant':
      return readAssistant(message);
    case 'tool':
    case 'function':
      return readResult(message, before);
    case 'system':
    case 'user':
      return fields.add({ role, content: readContent(content, role) }, rest);
    case 'developer':
      return fields.add({ role: 'system', content: readContent(content, 'system') }, { role, ...rest });
    default:
      return fields.add({ role: 'user', content: readContent(content, 'user') }, { role: role ?? null, ...rest });
  }
}

function readContent(content: JsonValue | undefined, role: 'system' | 'user' | 'assistant'): Message['content'] {
  if (typeof content === 'string') return content;
  return objectsIn(content).map((piece) => partOfContent(fields, piece, role));
}

/** The keys under which providers that copy the protocol put what a model thought. */
const reasoningKeys = ['reasoning_content', 'reasoning'] as const;

function readAssistant(message: JsonObject): Message {
  const { role: _, content, tool_calls: asked, refusal, ...more } = message;
  const key = reasoningKeys.find((each) => typeof more[each] === 'string');
  const thought: readonly MessagePart[] =
    key === undefined ? [] : [fields.add({ type: 'reasoning', text: asText(more[key]) }, { key })];
  const rest = key === undefined ? more : withoutKeys(more, [key]);
  const refused: readonly MessagePart[] =
    typeof refusal === 'string' ? [fields.add({ type: 'text', text: refusal }, { type: 'refusal' })] : [];
  const calls = objectsIn(asked).map(readCall);
  const kept = { ...rest, ...(refusal === null ? { refusal } : {}) };
  const isAlone = thought.length + refused.length + calls.length === 0;
  if (typeof content === 'string' && isAlone) return fields.add({ role: 'assistant', content }, kept);
  const isText = typeof content === 'string';
  const spoken = isText && content !== '' ? [{ type: 'text', text: content } as const] : [];
  const pieces = isText ? spoken : objectsIn(content).map((piece) => partOfContent(fields, piece, 'assistant'));
  const parts = [...thought, ...pieces, ...refused, ...calls];
  return fields.add({ role: 'assistant', content: parts }, { ...kept, content: contentForm(message) });
}

/** Says how the content was written where its parts do not: as a list, as an empty text, or not at all. */
function contentForm(message: JsonObject): string | undefined {
  const content = message['content'];
  if (Array.isArray(content)) return 'list';
  if (content === '') return 'empty';
  return Object.hasOwn(message, 'content') ? undefined : 'absent';
}

function readCall(call: JsonObject): ToolCallPart {
  const { id, type, function: called, custom, ...more } = call;
  const held = isObject(custom) ? custom : isObject(called) ? called : {};
  const { name, arguments: written, input, ...rest } = held;
  const isCustom = isObject(custom);
  const text = asText(isCustom ? input : written);
  const part: ToolCallPart = {
    type: 'tool-call',
    toolCallId: asText(id),
    toolName: asText(name),
    input: isCustom ? text : valueOfText(text),
  };
  const kind = type === 'function' ? undefined : (type ?? null);
  return fields.add(part, { type: kind, ...given({ called: filled(rest), more: filled(more) }) });
}

function readResult(message: JsonObject, before: readonly Message[]): Message {
  const { role, tool_call_id: id, content, name, ...rest } = message;
  const toolCallId = asText(id ?? name);
  const toolName = askedName(before, toolCallId) ?? (typeof name === 'string' ? name : '');
  const part = { type: 'tool-result', toolCallId, toolName, output: content ?? '' } as const;
  const own = { ...rest, ...given({ name }), ...(role === 'function' ? { role } : {}) };
  return { role: 'tool', content: [fields.add(part, own)] };
}

function writeMessage(message: Message): readonly JsonObject[] {
  switch (message.role) {
    case 'system':
    case 'user': {
      const content = typeof message.content === 'string' ? message.content : writeContent(partsOf(message));
      return [{ role: message.role, content, ...fields.of(message) }];
    }
    case 'assistant':
      return [writeAssistant(message)];
    case 'tool':
      return partsOf(message).flatMap((part) => (part.type === 'tool-result' ? [writeResult(part)] : []));
  }
}

const writeContent = (parts: readonly MessagePart[]): JsonValue => parts.flatMap((part) => contentOfPart(fields, part));

function writeAssistant(message: Message): JsonObject {
  const { content: form, ...rest } = fields.of(message);
  if (typeof message.content === 'string') return { role: 'assistant', content: message.content, ...rest };
  const parts = partsOf(message);
  const calls = parts.filter((part) => part.type === 'tool-call').map(writeCall);
  const said = parts.filter((part) => part.type === 'text' && fields.of(part)['type'] !== 'refusal');
  const refused = parts.find((part) => part.type === 'text' && fields.of(part)['type'] === 'refusal');
  const thought = parts.find((part) => part.type === 'reasoning' && fields.of(part)['key'] !== undefined);
  const others = parts.filter((part) => !['text', 'reasoning', 'tool-call', 'tool-result'].includes(part.type));
  const text = said.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const list = form === 'list' || others.length > 0;
  const content = list ? writeContent(parts.filter((part) => said.includes(part) || others.includes(part))) : text;
  const isSilent = !list && text === '' && form !== 'empty';
  return {
    role: 'assistant',
    ...(form === 'absent' ? {} : { content: isSilent ? null : content }),
    ...(thought?.type === 'reasoning' ? { [asText(fields.of(thought)['key'])]: thought.text } : {}),
    ...(refused?.type === 'text' ? { refusal: refused.text } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...rest,
  };
}

function writeCall(part: MessagePart): JsonObject {
  if (part.type !== 'tool-call') return {};
  const { type = 'function', called, more } = fields.of(part);
  const held = { name: part.toolName, ...(isObject(called) ? called : {}) };
  const text = textOfValue(part.input);
  const kind = type === 'custom' ? { custom: { ...held, input: text } } : { function: { ...held, arguments: text } };
  return { id: part.toolCallId, ...(type === null ? {} : { type }), ...kind, ...(isObject(more) ? more : {}) };
}

function writeResult(part: Extract<MessagePart, { type: 'tool-result' }>): JsonObject {
  const own = fields.of(part);
  const content = isTextList(part.output) ? part.output : textOfValue(part.output);
  if (own['role'] === 'function') return { content, ...own };
  return { role: 'tool', tool_call_id: part.toolCallId, content, ...own };
}

/** Returns true if a tool's answer is a list of text parts, which is the one list that the protocol takes. */
const isTextList = (output: JsonValue): boolean =>
  Array.isArray(output) && output.length > 0 && output.every((piece: JsonValue) => stringAt(piece, 'type') === 'text');

const reasons: Readonly<Record<string, string>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  content_filter: 'content-filter',
};
const rawReasons = Object.fromEntries(Object.entries(reasons).map(([raw, neutral]) => [neutral, raw]));

function readAnswer(body: JsonObject): ProtocolAnswer {
  const { choices, usage, ...rest } = body;
  const error = objectAt(body, 'error');
  const [first, ...others] = objectsIn(choices);
  const { message, finish_reason: raw, ...choice } = first ?? {};
  const counts = readUsage(usage);
  return {
    ...(isObject(message) ? { message: readMessage({ role: 'assistant', ...message }, []) } : {}),
    ...(typeof raw === 'string' ? { finishReason: reasons[raw] ?? raw } : {}),
    ...given({ usage: counts }),
    ...(error === undefined ? {} : { error: readError(error) }),
    provider: {
      ...rest,
      ...given({ usage, choice: first === undefined ? undefined : choice }),
      ...(others.length > 0 ? { choices: others } : {}),
    },
  };
}

function readError(error: JsonObject): { readonly message: string; readonly type?: string; readonly code?: string } {
  const { message, type, code } = error;
  return {
    message: typeof message === 'string' ? message : JSON.stringify(error),
    ...(typeof type === 'string' ? { type } : {}),
    ...(typeof code === 'string' ? { code } : {}),
  };
}

function writeAnswer({ message, finishReason, usage, error, provider }: ProtocolAnswer): JsonObject {
  const { usage: raw, choice, choices, ...rest } = provider;
  if (error !== undefined && message === undefined)
    return {
      error: { message: error.message, type: error.type ?? null, param: null, code: error.code ?? null },
      ...rest,
    };
  const own = isObject(choice) ? choice : { index: 0, logprobs: null };
  const form = isObject(choice) ? {} : { refusal: null };
  const said = message === undefined ? undefined : { ...form, ...writeAssistant(message) };
  const reason = finishReason === undefined ? null : (rawReasons[finishReason] ?? finishReason);
  const sent = raw ?? (usage === undefined ? undefined : writeUsage(usage));
  return {
    object: 'chat.completion',
    ...rest,
    choices: [{ ...own, ...given({ message: said }), finish_reason: reason }, ...objectsIn(choices)],
    ...given({ usage: sent }),
  };
}

function readUsage(usage: JsonValue | undefined): Usage | undefined {
  return countsOf(usage, {
    inputTokens: ['prompt_tokens'],
    outputTokens: ['completion_tokens'],
    totalTokens: ['total_tokens'],
    cachedInputTokens: ['prompt_tokens_details', 'cached_tokens'],
    cacheWriteTokens: ['prompt_tokens_details', 'cache_write_tokens'],
    reasoningTokens: ['completion_tokens_details', 'reasoning_tokens'],
  });
}

function writeUsage(usage: Usage): JsonObject {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, reasoningTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: usage.totalTokens ?? inputTokens + outputTokens,
    prompt_tokens_details: {
      cached_tokens: cachedInputTokens,
      ...(cacheWriteTokens > 0 ? { cache_write_tokens: cacheWriteTokens } : {}),
    },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}
