import { booleanAt, given, type JsonObject } from '../../core/json.ts';
import type { Message, MessagePart } from '../../core/message/message.ts';
import { fromAnthropicMessages, toAnthropicMessages } from '../../protocols/anthropic-messages.ts';
import { fromChatCompletions, toChatCompletions } from '../../protocols/chat-completions.ts';
import { fromGeminiContent, toGeminiContent } from '../../protocols/gemini-content.ts';
import type { ProtocolAnswer } from '../../protocols/protocol.ts';
import { providerFields } from '../../protocols/provider-fields.ts';
import { fromResponses, toResponses } from '../../protocols/responses.ts';
import type { SpokenAnswer } from './model-answer.ts';
import type { Protocol } from './protocol.ts';
import { createMessageMemory, createResponseMemory } from './response-memory.ts';
import type { ScriptedRequest } from './script.ts';

/** The second that answers say they were made in: always the same. */
const createdAt = 1_767_225_600;

/** The protocols that a server speaks; what it remembers of its answers is its own. */
export function spokenProtocols(): readonly Protocol[] {
  return [openaiChat, openaiResponses(), anthropicMessages(), geminiContent];
}

/** The fields that a protocol keeps on the parts of an answer. */
interface Marks {
  readonly namespace: string;
  readonly reasoning: JsonObject;
  readonly text?: JsonObject;
  readonly call?: (index: number) => JsonObject;
  /** Whether an answer without a word has an empty text. */
  readonly hasEmptyText: boolean;
}

function messageOf(spoken: SpokenAnswer, { namespace, reasoning, text, call, hasEmptyText }: Marks): Message {
  const marked = (part: MessagePart, fields: JsonObject = {}): MessagePart =>
    providerFields(namespace).add(part, fields);
  const isSilent = spoken.text === '' && (spoken.toolCalls.length > 0 || !hasEmptyText);
  const thought: MessagePart = { type: 'reasoning', text: spoken.reasoning };
  const said: MessagePart = { type: 'text', text: spoken.text };
  const asked = spoken.toolCalls.map(({ id, name, input }, index) =>
    marked({ type: 'tool-call', toolCallId: id, toolName: name, input }, call?.(index)),
  );
  return {
    role: 'assistant',
    content: [
      ...(spoken.reasoning === '' ? [] : [marked(thought, reasoning)]),
      ...(isSilent ? [] : [marked(said, text)]),
      ...asked,
    ],
  };
}

function answerOf(spoken: SpokenAnswer, marks: Marks, provider: JsonObject): ProtocolAnswer {
  const { finishReason, usage } = spoken;
  return { message: messageOf(spoken, marks), finishReason, usage, provider };
}

/** The kind of error that goes with a status, in the words that two providers share. */
function sharedErrorType(status: number): string {
  const types: Readonly<Record<number, string>> = {
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    413: 'request_too_large',
    429: 'rate_limit_error',
    529: 'overloaded_error',
  };
  return types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** Chat completions, as OpenAI and those who copy it speak them. */
export const openaiChat: Protocol = {
  name: 'openai-chat',
  from: fromChatCompletions,
  to: toChatCompletions,
  place: '/chat/completions',
  matches: (path) => path.endsWith('/chat/completions'),
  read: (body) => fromChatCompletions.request(body),
  answer: (spoken, request) => {
    const marks: Marks = { namespace: 'openaiChat', reasoning: { key: 'reasoning_content' }, hasEmptyText: true };
    const head = { id: `chatcmpl-${spoken.number}`, created: createdAt, model: request.model };
    const answer = answerOf(spoken, marks, head);
    const message = spoken.text === '' && spoken.toolCalls.length === 0 ? emptied(answer.message) : answer.message;
    const { usage: _, ...uncounted } = answer;
    return { ...(isCounted(request) ? answer : uncounted), ...given({ message }) };
  },
  errorType: sharedErrorType,
};

/** Empty text is sent as such, and not left out. */
function emptied(message: Message | undefined): Message | undefined {
  return message === undefined ? undefined : providerFields('openaiChat').add(message, { content: 'empty' });
}

/** Of a stream, tokens are counted only where that is asked for. */
function isCounted({ stream, settings }: ScriptedRequest): boolean {
  return !stream || booleanAt(settings['stream_options'], 'include_usage') === true;
}

/** Responses, as OpenAI speaks them. It remembers what it answered: a request may name earlier items instead of sending them. */
function openaiResponses(): Protocol {
  const memory = createResponseMemory();
  return {
    name: 'openai-responses',
    from: fromResponses,
    to: toResponses,
    place: '/responses',
    matches: (path) => path.endsWith('/responses'),
    read: (body) => fromResponses.request({ ...body, input: memory.items(body) }),
    answer: (spoken, request) => {
      const { number } = spoken;
      const answer = answerOf(
        spoken,
        {
          namespace: 'openaiResponses',
          reasoning: { item: { id: `rs_${number}` } },
          text: { item: { type: 'message', id: `msg_${number}`, status: 'completed' }, annotations: [], logprobs: [] },
          call: (index) => ({ id: `fc_${number}_${index + 1}`, status: 'completed' }),
          hasEmptyText: true,
        },
        responseHead(number, request),
      );
      memory.keep(request.body, toResponses.answer(answer));
      return answer;
    },
    errorType: sharedErrorType,
  };
}

function responseHead(number: number, { model, body }: ScriptedRequest): JsonObject {
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: createdAt,
    instructions: body['instructions'] ?? null,
    metadata: body['metadata'] ?? {},
    model,
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    temperature: body['temperature'] ?? 1,
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: body['top_p'] ?? 1,
  };
}

/** Messages, as Anthropic speaks them. It remembers its answers: a request may name an earlier one and send only the new messages. */
function anthropicMessages(): Protocol {
  const memory = createMessageMemory();
  return {
    name: 'anthropic-messages',
    from: fromAnthropicMessages,
    to: toAnthropicMessages,
    place: '/messages',
    matches: (path) => path.endsWith('/messages'),
    read: (body) => fromAnthropicMessages.request(memory.whole(body)),
    answer: (spoken, request) => {
      const reasoning = { signature: `signature-${spoken.number}` };
      const marks: Marks = { namespace: 'anthropicMessages', reasoning, hasEmptyText: false };
      const answer = answerOf(spoken, marks, { id: `msg_${spoken.number}`, model: request.model });
      memory.keep(request.body, toAnthropicMessages.answer(answer));
      return answer;
    },
    errorType: sharedErrorType,
  };
}

/** Contents, as Gemini speaks them. */
const geminiContent: Protocol = {
  name: 'gemini-content',
  from: fromGeminiContent,
  to: toGeminiContent,
  place: ':generateContent',
  matches: (path) => /:(stream)?generateContent$/i.test(path),
  read: (body, path) => fromGeminiContent.request(body, path),
  answer: (spoken, request) => {
    const reasoning = { thoughtSignature: `signature-${spoken.number}` };
    const marks: Marks = { namespace: 'geminiContent', reasoning, hasEmptyText: false };
    return answerOf(spoken, marks, { modelVersion: request.model, responseId: `resp_${spoken.number}` });
  },
  errorType: (status) => {
    const types: Readonly<Record<number, string>> = {
      401: 'UNAUTHENTICATED',
      403: 'PERMISSION_DENIED',
      404: 'NOT_FOUND',
      429: 'RESOURCE_EXHAUSTED',
      503: 'UNAVAILABLE',
    };
    return types[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT');
  },
};
