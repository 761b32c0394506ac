import { arrayAt, given, isObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../core/json.ts';
import { type Message, toolCallsIn } from '../core/message/message.ts';
import type { Usage } from '../core/recording/recorder.ts';
import { countsOf } from './counts.ts';
import { reading, writing } from './direction.ts';
import { functionTool, otherTool, toolOriginal } from './function-tool.ts';
import { contentsOfMessages, messageOfContent, messagesOfContents, partsOfMessage } from './gemini-contents.ts';
import { geminiFields as fields } from './gemini-parts.ts';
import { GeminiFold, geminiEvents, geminiSpeaks } from './gemini-stream.ts';
import { asText } from './json-text.ts';
import { objectsIn, plainSystem, withoutKeys } from './message-list.ts';
import type {
  AnswerContext,
  FromProtocol,
  ProtocolAnswer,
  ProtocolRequest,
  ProtocolTool,
  ToProtocol,
} from './protocol.ts';

/**
 * Reads Gemini's `generateContent`. A function call without an id gets one that says which call of the conversation it
 * is, so an answer needs the request it belongs to.
 *
 * @example
 * ```ts
 * const request = fromGeminiContent.request(
 *   { contents: [{ role: 'user', parts: [{ text: 'Hello?' }] }] },
 *   '/v1beta/models/gemini-flash-latest:generateContent',
 * );
 * const { message } = fromGeminiContent.answer(
 *   { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello!' }] }, finishReason: 'STOP' }] },
 *   { request },
 * );
 * ```
 */
export const fromGeminiContent: FromProtocol = reading({
  request: readRequest,
  messages: messagesOfContents,
  answer: readAnswer,
  fold: () => new GeminiFold(),
  speaks: geminiSpeaks,
});

/**
 * Writes Gemini's `generateContent`. System messages at the beginning are not among the messages: `request` puts those
 * where the protocol has them.
 *
 * @example
 * ```ts
 * const { messages } = await session.at('main@4').fold(conversation);
 * const contents = toGeminiContent.messages(messages); // for `ai.models.generateContent({ model, contents })`
 * ```
 */
export const toGeminiContent: ToProtocol = writing({
  path: ({ model, stream }) =>
    `/models/${model}:${stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  request: writeRequest,
  messages: (messages) => contentsOfMessages(withoutSystem(messages)),
  tools: writeTools,
  answer: writeAnswer,
  events: geminiEvents,
});

function readRequest(body: JsonObject, path: string): ProtocolRequest {
  const { contents, systemInstruction, tools, ...settings } = body;
  const named = /([^/]+):(stream)?generateContent/i.exec(path);
  const first = isObject(systemInstruction) ? [readSystem(systemInstruction)] : [];
  const offered = tools === undefined ? undefined : objectsIn(tools).flatMap(readTools);
  return {
    model: named?.[1] ?? '',
    ...(named === null ? {} : { stream: named[2] !== undefined }),
    ...plainSystem([...first, ...messagesOfContents(objectsIn(contents))]),
    ...given({ tools: offered }),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
  };
}

/** An instruction that is one plain text is the system prompt; the client writes it with the role of a user. */
function readSystem(instruction: JsonObject): Message {
  const parts = objectsIn(instruction['parts']);
  const [only] = parts;
  const text = stringAt(only, 'text');
  const isPlain = parts.length === 1 && only !== undefined && Object.keys(only).length === 1 && text !== undefined;
  if (isPlain && instruction['role'] === 'user' && Object.keys(instruction).length === 2)
    return { role: 'system', content: text };
  const message = messageOfContent({ ...instruction, role: 'user' }, 'system');
  return fields.add(message, { role: instruction['role'] ?? null });
}

function writeRequest({ system, messages, tools, settings }: ProtocolRequest): JsonObject {
  const rest = withoutSystem(messages);
  const leading = messages.slice(0, messages.length - rest.length);
  const told: readonly Message[] = system === undefined ? leading : [{ role: 'system', content: system }, ...leading];
  return {
    contents: contentsOfMessages(rest),
    ...given({ systemInstruction: writeSystem(told), tools: tools === undefined ? undefined : writeTools(tools) }),
    ...settings,
  };
}

function writeSystem(messages: readonly Message[]): JsonObject | undefined {
  const [first] = messages;
  if (first === undefined) return undefined;
  const { role = 'user', ...own } = fields.of(first);
  return { ...(role === null ? {} : { role }), parts: messages.flatMap((message) => partsOfMessage(message)), ...own };
}

/** Takes out the system messages at the beginning. */
function withoutSystem(messages: readonly Message[]): readonly Message[] {
  const begin = messages.findIndex(({ role }) => role !== 'system');
  return begin < 0 ? [] : messages.slice(begin);
}

/** One tool of the protocol has many functions; the first of each says that it begins one. */
function readTools(tool: JsonObject, index: number): readonly (ProtocolTool & JsonObject)[] {
  const functions = arrayAt(tool, 'functionDeclarations');
  if (functions === undefined) return [otherTool(fields, tool)];
  const more = withoutKeys(tool, ['functionDeclarations']);
  const begins = index > 0 ? { begins: true } : {};
  return objectsIn(functions).map(({ name, description, parameters, parametersJsonSchema: json, ...rest }, at) => {
    const schema = json === undefined ? undefined : 'parametersJsonSchema';
    const own = { ...rest, schema: parameters === undefined ? schema : 'parameters' };
    const first = { ...begins, ...(Object.keys(more).length > 0 ? { more } : {}) };
    return functionTool(
      fields,
      { name, description, inputSchema: parameters ?? json },
      at === 0 ? { ...own, ...first } : own,
    );
  });
}

function writeTools(tools: readonly JsonValue[]): readonly JsonObject[] {
  const list: { functionDeclarations?: JsonObject[] }[] = [];
  for (const tool of tools) {
    const { original, name, description, inputSchema, own } = toolOriginal(fields, tool);
    if (original !== undefined) {
      list.push(original);
      continue;
    }
    // The schema of a different provider is JSON Schema, which the protocol takes under a separate name.
    const { begins, more, schema = 'parametersJsonSchema', ...rest } = own;
    const declared = { name, ...given({ description, [asText(schema)]: inputSchema }), ...rest };
    const last = list.at(-1)?.functionDeclarations;
    if (last !== undefined && begins !== true && more === undefined) last.push(declared);
    else list.push({ functionDeclarations: [declared], ...(isObject(more) ? more : {}) });
  }
  return list as readonly object[] as readonly JsonObject[];
}

const filtered: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);
const rawReasons: Readonly<Record<string, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
};

function readAnswer(body: JsonObject, { request }: AnswerContext): ProtocolAnswer {
  const { candidates, ...rest } = body;
  const [first, ...others] = objectsIn(candidates);
  const { content, ...candidate } = first ?? {};
  const before = (request?.messages ?? []).reduce((sum, message) => sum + toolCallsIn(message).length, 0);
  const message = isObject(content) ? messageOfContent(content, 'assistant', before) : undefined;
  const error = objectAt(body, 'error');
  const finishReason = reasonOf(body, stringAt(candidate, 'finishReason'), message);
  return {
    ...given({ message, finishReason, usage: readUsage(body['usageMetadata']) }),
    ...(error === undefined ? {} : { error: readError(error) }),
    provider: {
      ...rest,
      ...(first === undefined ? {} : { candidate }),
      ...(others.length > 0 ? { candidates: others } : {}),
    },
  };
}

function reasonOf(body: JsonObject, raw: string | undefined, message: Message | undefined): string | undefined {
  if (raw === undefined)
    return stringAt(body['promptFeedback'], 'blockReason') === undefined ? undefined : 'content-filter';
  if (raw === 'STOP') return message !== undefined && toolCallsIn(message).length > 0 ? 'tool-calls' : 'stop';
  if (raw === 'MAX_TOKENS') return 'length';
  return filtered.has(raw) ? 'content-filter' : raw;
}

function readError(error: JsonObject): NonNullable<ProtocolAnswer['error']> {
  const { code } = error;
  return {
    message: stringAt(error, 'message') ?? JSON.stringify(error),
    ...given({ type: stringAt(error, 'status') }),
    ...(typeof code === 'number' || typeof code === 'string' ? { code } : {}),
  };
}

function writeAnswer({ message, finishReason, usage, error, provider }: ProtocolAnswer): JsonObject {
  const { candidate, candidates, ...rest } = provider;
  if (error !== undefined && message === undefined && candidate === undefined) {
    const { code = 500, message: text, type = 'INTERNAL' } = error;
    return { error: { code, message: text, status: type }, ...rest };
  }
  const own = isObject(candidate)
    ? candidate
    : { index: 0, ...(finishReason === undefined ? {} : { finishReason: rawReasons[finishReason] ?? finishReason }) };
  const [content] = message === undefined ? [] : contentsOfMessages([message]);
  const isThere = message !== undefined || isObject(candidate);
  return {
    ...(isThere ? { candidates: [{ ...given({ content }), ...own }, ...objectsIn(candidates)] } : {}),
    ...given({ usageMetadata: usage === undefined ? undefined : writeUsage(usage) }),
    ...rest,
  };
}

/** Here thoughts are not among the candidates' tokens, and what tools added not among the prompt's. */
function readUsage(usage: JsonValue | undefined): Usage | undefined {
  const counts = countsOf(usage, {
    inputTokens: ['promptTokenCount'],
    outputTokens: ['candidatesTokenCount'],
    totalTokens: ['totalTokenCount'],
    cachedInputTokens: ['cachedContentTokenCount'],
    reasoningTokens: ['thoughtsTokenCount'],
  });
  if (counts === undefined) return undefined;
  const { inputTokens, outputTokens, reasoningTokens = 0 } = counts;
  const added = isObject(usage) ? Number(usage['toolUsePromptTokenCount'] ?? 0) : 0;
  return {
    ...counts,
    ...(inputTokens === undefined ? {} : { inputTokens: inputTokens + added }),
    ...(outputTokens === undefined && reasoningTokens === 0
      ? {}
      : { outputTokens: (outputTokens ?? 0) + reasoningTokens }),
  };
}

function writeUsage(usage: Usage): JsonObject {
  const { inputTokens = 0, outputTokens = 0, cachedInputTokens, reasoningTokens } = usage;
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: Math.max(0, outputTokens - (reasoningTokens ?? 0)),
    totalTokenCount: usage.totalTokens ?? inputTokens + outputTokens,
    ...given({ cachedContentTokenCount: cachedInputTokens, thoughtsTokenCount: reasoningTokens }),
  };
}
