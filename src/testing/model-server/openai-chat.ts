import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { type Message, type MessagePart, toolCallsIn } from '../../core/message/message.ts';
import type { ModelAnswer } from './model-answer.ts';
import { inputOf } from './model-answer.ts';
import {
  createdAt,
  errorType,
  messageOf,
  objectsIn,
  offeredTool,
  type Protocol,
  scriptedRequest,
  textIn,
} from './protocol.ts';
import type { ScriptedRequest } from './script.ts';
import type { SsePiece } from './sse.ts';

/** The Chat Completions protocol of OpenAI, which others copy. */
export const openaiChat: Protocol = {
  name: 'openai-chat',
  path: '/chat/completions',
  read,
  whole,
  pieces,
  failure: openaiFailure,
};

/** Returns an error in OpenAI's form. */
export function openaiFailure(status: number, message: string, type: string | undefined): JsonObject {
  return { error: { message, type: type ?? errorType(status), param: null, code: null } };
}

function read(body: JsonObject): ScriptedRequest {
  const sent = objectsIn(body['messages']);
  const isSystem = (message: JsonObject): boolean => ['system', 'developer'].includes(textIn(message, 'role'));
  const messages: Message[] = [];
  for (const message of sent) if (!isSystem(message)) messages.push(readMessage(message, messages));
  return scriptedRequest({
    protocol: 'openai-chat',
    body,
    system: sent.filter(isSystem).map(({ content }) => contentText(content)),
    messages,
    tools: objectsIn(body['tools']).map((tool) => offeredTool(functionOf(tool), 'parameters')),
    known: ['messages'],
  });
}

const functionOf = (tool: JsonObject): JsonObject => (isObject(tool['function']) ? tool['function'] : tool);

function readMessage(message: JsonObject, before: readonly Message[]): Message {
  if (message['role'] === 'tool') return readResult(message, before);
  const calls = objectsIn(message['tool_calls']).map((call): MessagePart => {
    const called = functionOf(call);
    const input = inputOf(textIn(called, 'arguments'));
    return { type: 'tool-call', toolCallId: textIn(call, 'id'), toolName: textIn(called, 'name'), input };
  });
  const role = message['role'] === 'assistant' ? 'assistant' : 'user';
  return messageOf(role, [...readContent(message['content']), ...calls]);
}

function readResult(message: JsonObject, before: readonly Message[]): Message {
  const toolCallId = textIn(message, 'tool_call_id');
  const asked = before.flatMap((each) => toolCallsIn(each)).findLast((call) => call.toolCallId === toolCallId);
  const output = contentText(message['content']);
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName: asked?.toolName ?? '', output }] };
}

function readContent(content: JsonValue | undefined): readonly MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return objectsIn(content).map((part): MessagePart => {
    if (part['type'] === 'image_url') return { type: 'image', image: textIn(part['image_url'], 'url') };
    if (part['type'] !== 'file') return { type: 'text', text: textIn(part, 'text') };
    const file = part['file'];
    return { type: 'file', data: textIn(file, 'file_data'), mediaType: '', filename: textIn(file, 'filename') };
  });
}

const contentText = (content: JsonValue | undefined): string =>
  readContent(content)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');

const finishReasons = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
} as const;

function envelope(answer: ModelAnswer, request: ScriptedRequest, object: string): JsonObject {
  return { id: `chatcmpl-${answer.number}`, object, created: createdAt, model: request.model };
}

function usageOf({ usage }: ModelAnswer): JsonObject {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

function whole(answer: ModelAnswer, request: ScriptedRequest): JsonObject {
  const calls = answer.toolCalls.map(({ id, name, arguments: written }) => ({
    id,
    type: 'function',
    function: { name, arguments: written },
  }));
  const message = {
    role: 'assistant',
    content: answer.text.length === 0 && calls.length > 0 ? null : answer.text.join(''),
    refusal: null,
    ...(answer.reasoning.length > 0 ? { reasoning_content: answer.reasoning.join('') } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    ...envelope(answer, request, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasons[answer.finishReason] }],
    usage: usageOf(answer),
  };
}

function* pieces(answer: ModelAnswer, request: ScriptedRequest): Iterable<SsePiece> {
  const head = envelope(answer, request, 'chat.completion.chunk');
  const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  yield { data: chunk({ role: 'assistant', content: '' }), spoken: false };
  for (const piece of answer.reasoning) yield { data: chunk({ reasoning_content: piece }), spoken: true };
  for (const content of answer.text) yield { data: chunk({ content }), spoken: true };
  for (const [index, call] of answer.toolCalls.entries()) {
    const asked = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    yield { data: chunk({ tool_calls: [asked] }), spoken: false };
    for (const piece of call.pieces)
      yield { data: chunk({ tool_calls: [{ index, function: { arguments: piece } }] }), spoken: true };
  }
  yield { data: chunk({}, finishReasons[answer.finishReason]), spoken: false };
  const options = request.body['stream_options'];
  if (isObject(options) && options['include_usage'] === true)
    yield { data: { ...head, choices: [], usage: usageOf(answer) }, spoken: false };
  yield { data: '[DONE]', spoken: false };
}
