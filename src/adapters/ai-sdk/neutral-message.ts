import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { ModelMessage } from 'ai';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { type Message, type MessagePart, partFrom, type Role } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import { base64Of, plainJson, plainObject } from './plain-json.ts';

/** How messages are brought to the neutral form. */
export interface NeutralOptions {
  /** Tells that the tool made its own model output for this call, so that its form is kept. */
  readonly isShaped?: (toolCallId: string) => boolean;
}

/**
 * A message of the AI SDK, or of a provider's prompt, in the neutral form. Bytes become base64, and a tool's answer
 * plain JSON; whatever has no neutral form is kept as it is.
 */
export function neutralMessage(message: ModelMessage | LanguageModelV4Message, options: NeutralOptions = {}): Message {
  const { role, content, ...rest } = message;
  return { ...plainObject(rest), role: role satisfies Role, content: neutralContent(role, content, options) };
}

function neutralContent(role: Role, content: string | readonly object[], options: NeutralOptions): Message['content'] {
  if (typeof content === 'string') return content;
  const parts = content.map((part) => partFrom(neutralPart(part, options)));
  return role === 'tool' ? parts : shortContent(parts);
}

/** Content that is nothing but one text is that text, so that the same message is written one way only. */
export function shortContent(parts: readonly MessagePart[]): Message['content'] {
  const [only] = parts;
  return parts.length === 1 && only?.type === 'text' && Object.keys(only).length === 2 ? only.text : parts;
}

function neutralPart(part: object, options: NeutralOptions): JsonObject {
  const held = propertiesOf(part);
  switch (held['type']) {
    case 'image':
      return { ...plainObject(held), image: neutralData(held['image']) };
    case 'file':
    case 'reasoning-file':
      return { ...plainObject(held), data: neutralData(held['data']) };
    case 'tool-result': {
      const { output, ...rest } = held;
      const isShaped = options.isShaped?.(String(held['toolCallId'])) ?? false;
      return { ...plainObject(rest), ...neutralOutput(plainJson(output), isShaped) };
    }
    default:
      return plainObject(held);
  }
}

/** A file's data as an address or as base64; a reference to a provider's own file stays what it is. */
export function neutralData(data: unknown): JsonValue {
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return base64Of(data);
  if (data instanceof URL) return data.href;
  if (!isTagged(data)) return plainJson(data);
  if (data.type === 'data') return neutralData(data.data);
  return data.type === 'url' ? plainJson(data.originalUrl ?? data.url) : plainJson(data);
}

interface TaggedData {
  readonly type: unknown;
  readonly data?: unknown;
  readonly url?: unknown;
  readonly originalUrl?: unknown;
}

const isTagged = (data: unknown): data is TaggedData => typeof data === 'object' && data !== null && 'type' in data;

/**
 * What a tool gave, without the tag the AI SDK puts on it, wherever the tag can be put back: a text is a text, all else
 * JSON, and a failure is marked. Other kinds, and plain values that look like tagged ones, stay tagged.
 */
function neutralOutput(output: JsonValue, isShaped: boolean): { readonly output: JsonValue; readonly isError?: true } {
  if (isShaped || !isToolOutput(output) || output['providerOptions'] !== undefined) return { output };
  const value = output['value'] ?? null;
  const isText = typeof value === 'string';
  switch (output['type']) {
    case 'text':
      return { output: value };
    case 'error-text':
      return { output: value, isError: true };
    case 'json':
      return isText || isToolOutput(value) ? { output } : { output: value };
    case 'error-json':
      return isText || isToolOutput(value) ? { output } : { output: value, isError: true };
    default:
      return { output };
  }
}

const outputKeys: ReadonlySet<string> = new Set(['type', 'value', 'reason', 'providerOptions']);
const valueTypes: ReadonlySet<unknown> = new Set(['text', 'json', 'error-text', 'error-json', 'content']);

/** Whether a value has the form in which the AI SDK tells a model what a tool gave. */
export function isToolOutput(value: JsonValue): value is JsonObject {
  if (!isObject(value) || !Object.keys(value).every((key) => outputKeys.has(key))) return false;
  return value['type'] === 'execution-denied' || (valueTypes.has(value['type']) && 'value' in value);
}
