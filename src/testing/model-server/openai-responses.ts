import type { JsonObject, JsonValue } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { type Message, type MessagePart, toolCallsIn } from '../../core/message/message.ts';
import type { AnsweredToolCall, ModelAnswer } from './model-answer.ts';
import { inputOf } from './model-answer.ts';
import { openaiFailure } from './openai-chat.ts';
import { createdAt, messageOf, objectsIn, offeredTool, type Protocol, scriptedRequest, textIn } from './protocol.ts';
import type { ScriptedRequest } from './script.ts';
import type { SsePiece } from './sse.ts';

/** The Responses protocol of OpenAI. It remembers its answers: a request may name earlier items instead of sending them. */
export function openaiResponses(): Protocol {
  const memory = createMemory();
  return {
    name: 'openai-responses',
    path: '/responses',
    read: (body) => read(body, memory.items(body)),
    whole: (answer, request) => {
      const response = finished(answer, request);
      memory.keep(request.body, response);
      return response;
    },
    pieces: (answer, request) => {
      memory.keep(request.body, finished(answer, request));
      return pieces(answer, request);
    },
    failure: openaiFailure,
  };
}

/** Returns the items of a request, including those that it only names. */
interface Memory {
  items(body: JsonObject): readonly JsonObject[];
  keep(body: JsonObject, response: JsonObject): void;
}

function createMemory(): Memory {
  const histories = new Map<string, readonly JsonObject[]>();
  const items = new Map<string, JsonObject>();
  const resolved = (item: JsonObject): JsonObject => {
    if (item['type'] !== 'item_reference') return item;
    const found = items.get(textIn(item, 'id'));
    if (found === undefined) throw new Error(`Item with id '${textIn(item, 'id')}' not found.`);
    return found;
  };
  const itemsOf = (body: JsonObject): readonly JsonObject[] => {
    const previous = textIn(body, 'previous_response_id');
    const before = previous === '' ? [] : histories.get(previous);
    if (before === undefined) throw new Error(`Previous response with id '${previous}' not found.`);
    const input = body['input'];
    const sent = typeof input === 'string' ? [{ role: 'user', content: input }] : objectsIn(input);
    return [...before, ...sent.map(resolved)];
  };
  return {
    items: itemsOf,
    keep: (body, response) => {
      const output = objectsIn(response['output']);
      histories.set(textIn(response, 'id'), [...itemsOf(body), ...output]);
      for (const item of output) items.set(textIn(item, 'id'), item);
      forget(histories);
      forget(items);
    },
  };
}

/** The oldest go first. */
function forget(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    if (map.size <= limits.scriptedRequestsMax) return;
    map.delete(key);
  }
}

function read(body: JsonObject, items: readonly JsonObject[]): ScriptedRequest {
  const isSystem = (item: JsonObject): boolean => ['system', 'developer'].includes(textIn(item, 'role'));
  const messages: Message[] = [];
  for (const item of items) if (!isSystem(item)) addItem(messages, item);
  const system = items.filter(isSystem).map(({ content }) => partsOfContent(content).map(textOfPart).join(''));
  return scriptedRequest({
    protocol: 'openai-responses',
    body,
    system: [textIn(body, 'instructions'), ...system].filter((text) => text !== ''),
    messages,
    tools: objectsIn(body['tools']).map((tool) => offeredTool(tool, 'parameters')),
    known: ['input', 'instructions'],
  });
}

/** Joins the items of one answer into one message, as in every other protocol. */
function addItem(messages: Message[], item: JsonObject): void {
  const { role, parts } = readItem(item, messages);
  const last = messages.at(-1);
  if (role === 'user' || last?.role !== role) {
    messages.push(messageOf(role, parts));
    return;
  }
  const before: readonly MessagePart[] =
    typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content;
  messages[messages.length - 1] = messageOf(role, [...before, ...parts]);
}

function readItem(
  item: JsonObject,
  before: readonly Message[],
): { readonly role: Message['role']; readonly parts: readonly MessagePart[] } {
  const toolCallId = textIn(item, 'call_id');
  switch (item['type']) {
    case 'function_call': {
      const input = inputOf(textIn(item, 'arguments'));
      return { role: 'assistant', parts: [{ type: 'tool-call', toolCallId, toolName: textIn(item, 'name'), input }] };
    }
    case 'function_call_output': {
      const asked = before.flatMap((each) => toolCallsIn(each)).findLast((call) => call.toolCallId === toolCallId);
      const output =
        typeof item['output'] === 'string' ? item['output'] : partsOfContent(item['output']).map(textOfPart).join('');
      return { role: 'tool', parts: [{ type: 'tool-result', toolCallId, toolName: asked?.toolName ?? '', output }] };
    }
    case 'reasoning': {
      const text = objectsIn(item['summary'])
        .map((part) => textIn(part, 'text'))
        .join('');
      return { role: 'assistant', parts: [{ type: 'reasoning', text }] };
    }
    default:
      return { role: item['role'] === 'assistant' ? 'assistant' : 'user', parts: partsOfContent(item['content']) };
  }
}

function partsOfContent(content: JsonValue | undefined): readonly MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return objectsIn(content).map((part): MessagePart => {
    if (part['type'] === 'input_image') return { type: 'image', image: textIn(part, 'image_url') };
    if (part['type'] !== 'input_file') return { type: 'text', text: textIn(part, 'text') };
    const data = textIn(part, 'file_data') || textIn(part, 'file_url') || textIn(part, 'file_id');
    return { type: 'file', data, mediaType: '', filename: textIn(part, 'filename') };
  });
}

const textOfPart = (part: MessagePart): string => (part.type === 'text' ? part.text : '');

const part = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const summary = (text: string): JsonObject => ({ type: 'summary_text', text });

function reasoningItem({ number, reasoning }: ModelAnswer): JsonObject {
  return { type: 'reasoning', id: `rs_${number}`, summary: [summary(reasoning.join(''))] };
}

function messageItem({ number, text }: ModelAnswer): JsonObject {
  const content = [part(text.join(''))];
  return { type: 'message', id: `msg_${number}`, status: 'completed', role: 'assistant', content };
}

function callItem({ number, toolCalls }: ModelAnswer, call: AnsweredToolCall): JsonObject {
  const id = `fc_${number}_${toolCalls.indexOf(call) + 1}`;
  const { name, arguments: written } = call;
  return { type: 'function_call', id, call_id: call.id, name, arguments: written, status: 'completed' };
}

function outputOf(answer: ModelAnswer): readonly JsonObject[] {
  const silent = answer.toolCalls.length > 0 && answer.text.length === 0;
  return [
    ...(answer.reasoning.length === 0 ? [] : [reasoningItem(answer)]),
    ...(silent ? [] : [messageItem(answer)]),
    ...answer.toolCalls.map((call) => callItem(answer, call)),
  ];
}

function begun(answer: ModelAnswer, request: ScriptedRequest): JsonObject {
  return {
    id: `resp_${answer.number}`,
    object: 'response',
    created_at: createdAt,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: request.body['instructions'] ?? null,
    metadata: request.body['metadata'] ?? {},
    model: request.model,
    output: [],
    parallel_tool_calls: request.body['parallel_tool_calls'] ?? true,
    previous_response_id: request.body['previous_response_id'] ?? null,
    temperature: request.body['temperature'] ?? 1,
    tool_choice: request.body['tool_choice'] ?? 'auto',
    tools: request.body['tools'] ?? [],
    top_p: request.body['top_p'] ?? 1,
    usage: null,
  };
}

function finished(answer: ModelAnswer, request: ScriptedRequest): JsonObject {
  const { usage } = answer;
  const reasons: Readonly<Record<string, string>> = {
    length: 'max_output_tokens',
    'content-filter': 'content_filter',
  };
  const reason = reasons[answer.finishReason];
  return {
    ...begun(answer, request),
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    output: outputOf(answer),
    usage: {
      input_tokens: usage.inputTokens,
      input_tokens_details: { cached_tokens: usage.cachedInputTokens },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
      total_tokens: usage.totalTokens,
    },
  };
}

function* pieces(answer: ModelAnswer, request: ScriptedRequest): Iterable<SsePiece> {
  const response = finished(answer, request);
  let number = 0;
  const numbered = ({ event = '', data, spoken }: SsePiece): SsePiece => ({
    event,
    data: { type: event, sequence_number: number++, ...(data as JsonObject) },
    spoken,
  });
  yield numbered(named('response.created', { response: begun(answer, request) }));
  yield numbered(named('response.in_progress', { response: begun(answer, request) }));
  for (const [index, item] of objectsIn(response['output']).entries())
    for (const piece of itemPieces(answer, item, index)) yield numbered(piece);
  yield numbered(named(`response.${textIn(response, 'status')}`, { response }));
}

const named = (event: string, data: JsonObject, spoken = false): SsePiece => ({ event, data, spoken });

function* itemPieces(answer: ModelAnswer, item: JsonObject, index: number): Iterable<SsePiece> {
  const emptied = { summary: [], content: [], arguments: '', status: 'in_progress' };
  const opening = Object.fromEntries(
    Object.entries(item).map(([key, value]) => [key, emptied[key as keyof typeof emptied] ?? value]),
  );
  yield named('response.output_item.added', { output_index: index, item: opening });
  const place = { item_id: item['id'] ?? '', output_index: index };
  if (item['type'] === 'message') yield* textPieces(answer, place);
  else if (item['type'] === 'reasoning') yield* reasoningPieces(answer, place);
  else yield* argumentPieces(answer, item, place);
  yield named('response.output_item.done', { output_index: index, item });
}

function* textPieces({ text }: ModelAnswer, place: JsonObject): Iterable<SsePiece> {
  const at = { ...place, content_index: 0 };
  const whole = text.join('');
  yield named('response.content_part.added', { ...at, part: part('') });
  for (const delta of text) yield named('response.output_text.delta', { ...at, delta, logprobs: [] }, true);
  yield named('response.output_text.done', { ...at, text: whole, logprobs: [] });
  yield named('response.content_part.done', { ...at, part: part(whole) });
}

function* reasoningPieces({ reasoning }: ModelAnswer, place: JsonObject): Iterable<SsePiece> {
  const at = { ...place, summary_index: 0 };
  const whole = reasoning.join('');
  yield named('response.reasoning_summary_part.added', { ...at, part: summary('') });
  for (const delta of reasoning) yield named('response.reasoning_summary_text.delta', { ...at, delta }, true);
  yield named('response.reasoning_summary_text.done', { ...at, text: whole });
  yield named('response.reasoning_summary_part.done', { ...at, part: summary(whole) });
}

function* argumentPieces(answer: ModelAnswer, item: JsonObject, place: JsonObject): Iterable<SsePiece> {
  const call = answer.toolCalls.find(({ id }) => id === item['call_id']);
  for (const delta of call?.pieces ?? [])
    yield named('response.function_call_arguments.delta', { ...place, delta }, true);
  const { arguments: written = '', name = '' } = call ?? {};
  yield named('response.function_call_arguments.done', { ...place, name, arguments: written });
}
