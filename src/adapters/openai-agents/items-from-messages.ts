import type { AgentInputItem } from '@openai/agents';
import { given, isObject, type JsonObject, type JsonValue, valueAt } from '../../core/json.ts';
import {
  bareMessages,
  type Message,
  type MessageLike,
  type MessagePart,
  partsOf,
  type ReasoningPart,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
} from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import { plainJson } from '../../core/recording/plain-json.ts';
import { assistantContent, userContent } from './content-parts.ts';
import { fieldsOf, textOfValue } from './provider-fields.ts';

/**
 * Turns neutral messages, or those of a conversation, into the framework's items, with all fields that were kept.
 * Erased messages are left out.
 *
 * @example
 * ```ts
 * const { messages } = await session.fold(conversation);
 * const items = itemsFromMessages(messages);
 * ```
 */
export function itemsFromMessages(messages: readonly MessageLike[]): AgentInputItem[] {
  return bareMessages(messages).flatMap((message) => itemsOf(message).map(itemFrom));
}

/** Takes JSON as an item: it has the shape of the item it came from, or the smallest one that the framework takes. */
const itemFrom = (json: JsonObject): AgentInputItem => json as AgentInputItem;

function itemsOf(message: Message): readonly JsonObject[] {
  switch (message.role) {
    case 'system':
      return [{ type: 'message', role: 'system', content: textOf(message), ...fieldsOf(message) }];
    case 'user':
      return [userItem(message)];
    case 'assistant':
      return assistantItems(partsOf(message));
    case 'tool':
      return partsOf(message).flatMap((part) => (part.type === 'tool-result' ? [resultItem(part)] : []));
  }
}

function userItem(message: Message): JsonObject {
  const { content } = message;
  const pieces = typeof content === 'string' ? content : content.flatMap((part) => userContent(part) ?? []);
  return { type: 'message', role: 'user', content: plainJson(pieces), ...fieldsOf(message) };
}

/** Returns the items of an assistant's message. Adjacent texts are one item, unless their fields say otherwise. */
function assistantItems(parts: readonly MessagePart[]): readonly JsonObject[] {
  const items: JsonObject[] = [];
  let spoken: JsonValue[] | undefined;
  for (const part of parts) {
    const content = assistantContent(part);
    if (content === undefined) {
      spoken = undefined;
      items.push(...itemOfPart(part));
      continue;
    }
    if (spoken !== undefined && !startsMessage(part)) {
      spoken.push(plainJson(content));
      continue;
    }
    spoken = [plainJson(content)];
    const { item } = fieldsOf(part);
    const own = isObject(item) ? item : {};
    items.push({ type: 'message', role: 'assistant', status: 'completed', content: spoken, ...own });
  }
  return items;
}

/** Returns true if a part begins an item: it carries the fields of one. A part from elsewhere continues the last item. */
function startsMessage(part: MessagePart): boolean {
  return fieldsOf(part)['item'] !== undefined;
}

function itemOfPart(part: MessagePart): readonly JsonObject[] {
  switch (part.type) {
    case 'reasoning':
      return [reasoningItem(part)];
    case 'tool-call':
      return [callItem(part)];
    case 'tool-result':
      return [resultItem(part)];
    default: {
      const { type, item } = propertiesOf(part);
      return type === 'openai-item' && isObject(item) ? [item] : [];
    }
  }
}

function reasoningItem(part: ReasoningPart): JsonObject {
  return { type: 'reasoning', content: [{ type: 'input_text', text: part.text }], ...fieldsOf(part) };
}

function callItem(part: ToolCallPart): JsonObject {
  const { item, ...rest } = fieldsOf(part);
  if (isObject(item)) return { ...item, ...localInput(item, part.input), callId: part.toolCallId };
  return {
    type: 'function_call',
    callId: part.toolCallId,
    name: part.toolName,
    arguments: textOfValue(part.input),
    status: 'completed',
    ...rest,
  };
}

/** Puts an edited input where the item had it. */
function localInput(item: JsonObject, input: JsonValue): JsonObject {
  if ('operation' in item) return { operation: input };
  return 'actions' in item ? { actions: input } : { action: input };
}

function resultItem(part: ToolResultPart): JsonObject {
  const { item, plain, ...rest } = fieldsOf(part);
  if (isObject(item)) return { ...item, callId: part.toolCallId, output: part.output };
  return {
    type: 'function_call_result',
    callId: part.toolCallId,
    name: part.toolName,
    output: outputSent(part.output, plain === true),
    status: 'completed',
    ...rest,
  };
}

/** Returns a tool's answer as the model gets it: pieces it can read as they are, everything else as text. */
function outputSent(output: JsonValue, isPlain: boolean): JsonValue {
  const value = unwrapped(output);
  if (isStructured(value)) return Array.isArray(value) ? value.map(inputPiece) : value;
  const text = textOfValue(value);
  return isPlain ? text : { type: 'text', text };
}

/** Unwraps a result in the form `{ type: 'json', value }`, which other frameworks use. */
function unwrapped(output: JsonValue): JsonValue {
  const type = valueAt(output, ['type']);
  const value = valueAt(output, ['value']);
  const isWrapped = typeof type === 'string' && /^(text|json|error-text|error-json)$/.test(type);
  return isWrapped && value !== undefined ? value : output;
}

function isStructured(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((piece: JsonValue) => isPiece(piece));
  return isObject(value) && isPiece(value);
}

const pieceKeys: Readonly<Record<string, string>> = {
  text: 'text',
  input_text: 'text',
  image: 'image',
  input_image: 'image',
  file: 'file',
  input_file: 'file',
};

function isPiece(value: JsonValue): boolean {
  const type = valueAt(value, ['type']);
  const key = typeof type === 'string' && Object.hasOwn(pieceKeys, type) ? pieceKeys[type] : undefined;
  return key !== undefined && isObject(value) && value[key] !== undefined;
}

/** Renames a piece: in a list, the framework uses the names of a user's message. */
function inputPiece(piece: JsonValue): JsonValue {
  if (!isObject(piece) || String(piece['type']).startsWith('input_')) return piece;
  const address = valueAt(piece, ['image', 'url']);
  return { ...piece, ...given({ image: address }), type: `input_${String(piece['type'])}` };
}
