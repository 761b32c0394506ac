import type { JsonObject, JsonValue } from '../../core/json.ts';
import { type Message, type MessagePart, toolCallsIn } from '../../core/message/message.ts';
import type { ModelAnswer } from './model-answer.ts';
import { errorType, messageOf, objectsIn, offeredTool, type Protocol, scriptedRequest, textIn } from './protocol.ts';
import type { ScriptedRequest } from './script.ts';
import type { SsePiece } from './sse.ts';

/** The Messages protocol of Anthropic. */
export const anthropicMessages: Protocol = {
  name: 'anthropic-messages',
  path: '/messages',
  read,
  whole,
  pieces,
  failure: (status, message, type) => ({
    type: 'error',
    error: { type: type ?? errorType(status), message },
    request_id: null,
  }),
};

function read(body: JsonObject): ScriptedRequest {
  const messages: Message[] = [];
  const system = [textsIn(body['system'])];
  for (const message of objectsIn(body['messages'])) {
    if (message['role'] === 'system') system.push(textsIn(message['content']));
    else messages.push(...readMessage(message, messages));
  }
  return scriptedRequest({
    protocol: 'anthropic-messages',
    body,
    system: system.filter((text) => text !== ''),
    messages,
    tools: objectsIn(body['tools']).map((tool) => offeredTool(tool, 'input_schema')),
    known: ['messages', 'system'],
  });
}

/** Splits the tool results of a user message off into a message of their own, as in every other protocol. */
function readMessage(message: JsonObject, before: readonly Message[]): readonly Message[] {
  const blocks = blocksOf(message['content']);
  const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => readResult(block, before));
  const parts = blocks.filter(({ type }) => type !== 'tool_result').flatMap((block) => readBlock(block));
  return [
    ...(results.length > 0 ? [messageOf('tool', results)] : []),
    ...(parts.length > 0 ? [messageOf(message['role'] === 'assistant' ? 'assistant' : 'user', parts)] : []),
  ];
}

const blocksOf = (content: JsonValue | undefined): readonly JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content);

const textsIn = (content: JsonValue | undefined): string =>
  blocksOf(content)
    .map((block) => textIn(block, 'text'))
    .join('');

function readResult(block: JsonObject, before: readonly Message[]): MessagePart {
  const toolCallId = textIn(block, 'tool_use_id');
  const asked = before.flatMap((each) => toolCallsIn(each)).findLast((call) => call.toolCallId === toolCallId);
  return {
    type: 'tool-result',
    toolCallId,
    toolName: asked?.toolName ?? '',
    output: textsIn(block['content']),
    ...(block['is_error'] === true ? { isError: true } : {}),
  };
}

function readBlock(block: JsonObject): readonly MessagePart[] {
  const source = block['source'];
  const data = textIn(source, 'url') || textIn(source, 'data');
  const mediaType = textIn(source, 'media_type');
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: textIn(block, 'text') }];
    case 'thinking':
      return [{ type: 'reasoning', text: textIn(block, 'thinking') }];
    case 'image':
      return [{ type: 'image', image: data, mediaType }];
    case 'document':
      return [{ type: 'file', data, mediaType }];
    case 'tool_use': {
      const input = block['input'] ?? {};
      return [{ type: 'tool-call', toolCallId: textIn(block, 'id'), toolName: textIn(block, 'name'), input }];
    }
    default:
      return [];
  }
}

const stopReasons = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
} as const;

function envelope(answer: ModelAnswer, request: ScriptedRequest): JsonObject {
  return { id: `msg_${answer.number}`, type: 'message', role: 'assistant', model: request.model };
}

/** Returns the usage in Anthropic's form: its input tokens leave out those of the cache. */
function usageOf({ usage }: ModelAnswer): JsonObject {
  return {
    input_tokens: Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens),
    cache_read_input_tokens: usage.cachedInputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
  };
}

const signatureOf = (answer: ModelAnswer): string => `signature-${answer.number}`;

function whole(answer: ModelAnswer, request: ScriptedRequest): JsonObject {
  const thinking = answer.reasoning.join('');
  const content: JsonObject[] = [
    ...(thinking === '' ? [] : [{ type: 'thinking', thinking, signature: signatureOf(answer) }]),
    ...(answer.text.length === 0 ? [] : [{ type: 'text', text: answer.text.join('') }]),
    ...answer.toolCalls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ];
  return {
    ...envelope(answer, request),
    content,
    stop_reason: stopReasons[answer.finishReason],
    stop_sequence: null,
    usage: usageOf(answer),
  };
}

const named = (event: string, more: JsonObject = {}, spoken = false): SsePiece => ({
  event,
  data: { type: event, ...more },
  spoken,
});

/** A block of a message: how it opens, and its deltas. */
interface Block {
  readonly opening: JsonObject;
  readonly deltas: readonly JsonObject[];
  readonly closing?: JsonObject;
}

function blocks(answer: ModelAnswer): readonly Block[] {
  const thinking: Block = {
    opening: { type: 'thinking', thinking: '', signature: '' },
    deltas: answer.reasoning.map((piece) => ({ type: 'thinking_delta', thinking: piece })),
    closing: { type: 'signature_delta', signature: signatureOf(answer) },
  };
  const text: Block = {
    opening: { type: 'text', text: '' },
    deltas: answer.text.map((piece) => ({ type: 'text_delta', text: piece })),
  };
  const calls = answer.toolCalls.map(
    ({ id, name, pieces: written }): Block => ({
      opening: { type: 'tool_use', id, name, input: {} },
      deltas: written.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    }),
  );
  return [...[thinking, text].filter(({ deltas }) => deltas.length > 0), ...calls];
}

function* pieces(answer: ModelAnswer, request: ScriptedRequest): Iterable<SsePiece> {
  const usage = usageOf(answer);
  const opening = { ...envelope(answer, request), content: [], stop_reason: null, stop_sequence: null };
  yield named('message_start', { message: { ...opening, usage: { ...usage, output_tokens: 1 } } });
  for (const [index, block] of blocks(answer).entries()) {
    yield named('content_block_start', { index, content_block: block.opening });
    for (const delta of block.deltas) yield named('content_block_delta', { index, delta }, true);
    if (block.closing !== undefined) yield named('content_block_delta', { index, delta: block.closing });
    yield named('content_block_stop', { index });
  }
  const delta = { stop_reason: stopReasons[answer.finishReason], stop_sequence: null };
  yield named('message_delta', { delta, usage: { output_tokens: usage['output_tokens'] ?? 0 } });
  yield named('message_stop');
}
