import { canonicalJson } from '../canonical-json.ts';
import { isObject, type JsonObject, type JsonValue } from '../json.ts';

/** Who speaks. */
export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** Plain text. */
export type TextPart = {
  readonly type: 'text';
  readonly text: string;
};

/** The reasoning of a model. */
export type ReasoningPart = {
  readonly type: 'reasoning';
  readonly text: string;
};

/** A picture: a URL, or data as base64. */
export type ImagePart = {
  readonly type: 'image';
  readonly image: string;
  readonly mediaType?: string;
};

/** A file: a URL, or data as base64. */
export type FilePart = {
  readonly type: 'file';
  readonly data: string;
  readonly mediaType: string;
  readonly filename?: string;
};

/** A model's request to call a tool. */
export type ToolCallPart = {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonValue;
};

/** The result of a tool call. */
export type ToolResultPart = {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: JsonValue;
  /** Set if the tool failed; `output` then describes the error. */
  readonly isError?: boolean;
};

/** A piece of a message. */
export type MessagePart = TextPart | ReasoningPart | ImagePart | FilePart | ToolCallPart | ToolResultPart;

/** A message in the neutral form, which adapters map to and from. Other fields are kept as they are. */
export type Message = {
  readonly role: Role;
  readonly content: string | readonly MessagePart[];
};

/** A message, or an entry of a conversation, which has no message if it was erased. */
export type MessageLike = Message | { readonly message?: JsonObject };

/** Returns the messages alone, without erased ones. */
export function bareMessages(held: readonly MessageLike[]): readonly Message[] {
  return held.flatMap((each) => {
    if ('role' in each) return [each];
    return each.message === undefined ? [] : [messageFrom(each.message)];
  });
}

/** Takes stored JSON as a message: fields that the type does not name are kept. */
export function messageFrom(json: JsonObject): Message {
  return json as Message;
}

/** Takes JSON as a part: the neutral form lets parts of other kinds through, which its type does not name. */
export function partFrom(json: JsonObject): MessagePart {
  return json as MessagePart;
}

const roles: ReadonlySet<unknown> = new Set<Role>(['system', 'user', 'assistant', 'tool']);

/** Returns true if a value is a message: a known role, and content that is a string or a list of typed parts. */
export function isMessage(value: unknown): value is Message & JsonObject {
  if (!isObject(value) || !roles.has(value['role'])) return false;
  const content = value['content'];
  return typeof content === 'string' || (Array.isArray(content) && content.every(isPart));
}

const isPart = (value: unknown): value is MessagePart => isObject(value) && typeof value['type'] === 'string';

/** Returns the parts of a message; string content is one text part. Values that are not parts are skipped. */
export function partsOf(message: JsonValue | Message): readonly MessagePart[] {
  const content = isObject(message) ? message['content'] : undefined;
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isPart) : [];
}

/**
 * Returns the text of a message: its text parts joined.
 *
 * @example
 * ```ts
 * const said = textOf({ role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }); // 'Done.'
 * ```
 */
export function textOf(message: JsonValue | Message): string {
  return partsOf(message)
    .flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []))
    .join('');
}

/**
 * Returns the tool calls of a message.
 *
 * @example
 * ```ts
 * const { messages } = await session.at('main@4').fold(conversation);
 * for (const { message } of messages) for (const { toolName, input } of toolCallsIn(message ?? {})) console.log(toolName, input);
 * ```
 */
export function toolCallsIn(message: JsonValue | Message): readonly ToolCallPart[] {
  return partsOf(message).filter((part) => part.type === 'tool-call');
}

/** Returns the tool results of a message. */
export function toolResultsIn(message: JsonValue | Message): readonly ToolResultPart[] {
  return partsOf(message).filter((part) => part.type === 'tool-result');
}

/** Keys of messages and parts that providers fill with ids and bookkeeping. */
const providerKeys: ReadonlySet<string> = new Set(['id', 'providerOptions', 'providerMetadata']);

/** Returns the new name of a tool call id. */
export type RenameToolCall = (id: string) => JsonValue;

/**
 * Returns what a message says and does, without what a provider added: ids and metadata are removed, and tool call ids
 * get new names. Values inside (tool inputs, outputs) stay as they are.
 */
export function plainMessage(message: JsonValue, rename: RenameToolCall): JsonValue {
  if (!isObject(message)) return message;
  const content = message['content'];
  const plain = withoutProviderKeys(message);
  if (Array.isArray(content)) plain['content'] = content.map((part: JsonValue) => plainPart(part, rename));
  return plain;
}

function plainPart(part: JsonValue, rename: RenameToolCall): JsonValue {
  if (!isObject(part)) return part;
  const id = part['toolCallId'];
  const plain = withoutProviderKeys(part);
  if (typeof id === 'string') plain['toolCallId'] = rename(id);
  return plain;
}

function withoutProviderKeys(value: JsonObject): Record<string, JsonValue> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !providerKeys.has(key)));
}

const keys = new WeakMap<object, string>();

/**
 * Returns a key that two messages share exactly if they say the same: string content is one text part, and provider
 * keys do not count.
 */
export function messageKey(message: JsonObject): string {
  const known = keys.get(message);
  if (known !== undefined) return known;
  const plain = plainMessage(message, (id) => id);
  const key = canonicalJson({ ...(isObject(plain) ? plain : {}), content: partsOf(plain) });
  keys.set(message, key);
  return key;
}
