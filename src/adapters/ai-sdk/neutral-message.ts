import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { ModelMessage } from 'ai';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { type Message, type MessagePart, partFrom, type Role } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import { base64Of, plainJson, plainObject } from './plain-json.ts';

/** Options for turning messages into the neutral form. */
export interface NeutralOptions {
  /** Whether the tool made its own model output for a call, whose form is then kept. */
  readonly isShaped?: (toolCallId: string) => boolean;
}

/**
 * Returns a message of the AI SDK, or of a provider's prompt, in the neutral form. Bytes become base64, and a tool's
 * answer plain JSON; anything without a neutral form is kept.
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

/** Returns the text of content that is one plain text, so that equal messages are written in one way. */
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

/** Returns the data of a file as an address or as base64; a reference to a provider's own file stays as it is. */
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
 * Returns the output of a tool without the tag of the AI SDK, if the tag can be put back: text as text, anything else
 * as JSON, with a mark for a failure. Other kinds, and plain values that look tagged, stay tagged.
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

/** Returns true if a value has the form in which the AI SDK sends a tool's output to a model. */
export function isToolOutput(value: JsonValue): value is JsonObject {
  if (!isObject(value) || !Object.keys(value).every((key) => outputKeys.has(key))) return false;
  return value['type'] === 'execution-denied' || (valueTypes.has(value['type']) && 'value' in value);
}
