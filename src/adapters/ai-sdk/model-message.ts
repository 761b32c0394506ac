import type { ModelMessage, SystemModelMessage, ToolResultPart } from 'ai';
import { given, isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { bareMessages, type Message, type MessageLike, partsOf, textOf } from '../../core/message/message.ts';
import { isToolOutput, neutralMessage } from './neutral-message.ts';

/** A conversation as `generateText` and `streamText` take it. */
export interface ModelPrompt {
  /** The system prompt; left out if there is none. */
  instructions?: string | SystemModelMessage[];
  messages: ModelMessage[];
  /** Set if a system message comes later: the AI SDK allows that only with this option. */
  allowSystemInMessages?: true;
}

/** The part of a conversation that makes a prompt; `messages` may be those of the projection, with their seqs. */
export interface PromptSource {
  readonly messages: readonly MessageLike[];
  readonly system?: string | null;
}

/**
 * Turns messages of the AI SDK into neutral ones, as they are recorded. Bytes become base64; parts without a neutral
 * form are kept.
 *
 * @example
 * ```ts
 * const messages = fromModelMessages([{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }]);
 * ```
 */
export function fromModelMessages(messages: readonly ModelMessage[]): Message[] {
  return messages.map((message) => neutralMessage(message));
}

/**
 * Turns neutral messages, or those of a conversation, into messages of the AI SDK. Erased messages and parts that the
 * AI SDK does not know are left out.
 *
 * @example
 * ```ts
 * const messages = toModelMessages([{ role: 'user', content: 'Hello' }]);
 * const { text } = await generateText({ model, messages });
 * ```
 */
export function toModelMessages(messages: readonly MessageLike[]): ModelMessage[] {
  return bareMessages(messages).map(modelMessage);
}

/**
 * Turns a conversation into what `generateText` takes: the system prompt as instructions, and the messages. Erased
 * messages are left out.
 *
 * @example
 * ```ts
 * const prompt = toPrompt(await session.at('main@6').fold(conversation));
 * const { text } = await generateText({ model, ...prompt });
 * ```
 */
export function toPrompt(source: PromptSource): ModelPrompt {
  const all = toModelMessages(source.messages);
  const end = all.findIndex((message) => message.role !== 'system');
  const leading = (end < 0 ? all : all.slice(0, end)).filter((message) => message.role === 'system');
  const messages = all.slice(leading.length);
  const instructions = leading.length > 0 ? leading : (source.system ?? undefined);
  return {
    ...given({ instructions }),
    messages,
    ...(messages.some(({ role }) => role === 'system') ? { allowSystemInMessages: true } : {}),
  };
}

function modelMessage(message: Message): ModelMessage {
  const { role, content } = message;
  if (role === 'system') return { ...message, role, content: textOf(message) };
  if (typeof content === 'string' && role !== 'tool') return { ...message, role, content };
  const known = knownParts[role];
  const parts = partsOf(message).filter((part) => known.has(part.type));
  return { ...message, role, content: parts.map((part) => modelPart(part)) } as ModelMessage;
}

/** The parts that the AI SDK takes in a message of each role; it drops any other part. */
const knownParts: Readonly<Record<'user' | 'assistant' | 'tool', ReadonlySet<string>>> = {
  user: new Set(['text', 'image', 'file']),
  assistant: new Set([
    'text',
    'custom',
    'file',
    'reasoning',
    'reasoning-file',
    'tool-call',
    'tool-result',
    'tool-approval-request',
  ]),
  tool: new Set(['tool-result', 'tool-approval-response']),
};

function modelPart(part: JsonObject): object {
  switch (part['type']) {
    case 'file':
    case 'reasoning-file':
      return { ...part, data: withUrls(part['data'] ?? '') };
    case 'tool-result': {
      const { output = null, isError, ...rest } = part;
      return { ...rest, output: toolOutput(output, isError === true) };
    }
    default:
      return part;
  }
}

/** Returns the output of a tool in the form in which the AI SDK sends it to a model. */
function toolOutput(output: JsonValue, isError: boolean): ToolResultPart['output'] {
  if (isToolOutput(output)) return withUrls(output) as ToolResultPart['output'];
  if (typeof output === 'string') return { type: isError ? 'error-text' : 'text', value: output };
  return { type: isError ? 'error-json' : 'json', value: output };
}

/** Turns the addresses in tagged data back into URL objects. */
function withUrls(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(withUrls);
  if (!isObject(value)) return value;
  const { type, url } = value;
  if (type === 'url' && typeof url === 'string' && URL.canParse(url)) return { ...value, url: new URL(url) };
  if (type === 'content' || type === 'file') {
    return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, withUrls(held)]));
  }
  return value;
}
