import { given, isObject, type JsonObject, type JsonValue, stringAt } from '../core/json.ts';
import {
  type Message,
  type MessagePart,
  partsOf,
  type ReasoningPart,
  type ToolCallPart,
  type ToolResultPart,
} from '../core/message/message.ts';
import { asText, textOfValue, valueOfText } from './json-text.ts';
import { askedName, objectsIn, withoutKeys } from './message-list.ts';
import { type ProviderFields, providerFields } from './provider-fields.ts';
import { partOfPiece, pieceOfPart } from './response-content.ts';

/** The fields that responses keep in addition to the neutral form. */
export const responseFields: ProviderFields = providerFields('openaiResponses');
const fields = responseFields;

/** Reads a list of items. Items that a model said in a row are one message; every answer of a tool is one. */
export function readItems(items: readonly JsonObject[]): readonly Message[] {
  const messages: Message[] = [];
  let said: MessagePart[] = [];
  const settle = (): void => {
    if (said.length > 0) messages.push({ role: 'assistant', content: said });
    said = [];
  };
  const nameOf = (id: string): string => askedName([spoken(said)], id) ?? askedName(messages, id) ?? '';
  for (const item of items) {
    const message = readOther(item, nameOf);
    if (message === undefined) said.push(...readSpoken(item));
    else {
      settle();
      messages.push(message);
    }
  }
  settle();
  return messages;
}

/** Reads the items of one answer as one message. */
export function readSaid(items: readonly JsonObject[]): Message {
  return spoken(items.flatMap((item) => readSpoken(item)));
}

const spoken = (content: readonly MessagePart[]): Message => ({ role: 'assistant', content });

/** Reads an item that is not the model's: a message of someone else, or the answer of a tool. */
function readOther(item: JsonObject, nameOf: (toolCallId: string) => string): Message | undefined {
  const { type, role, content, ...rest } = item;
  if (type === 'function_call_output' || type === 'custom_tool_call_output') return readResult(item, nameOf);
  if (typeof type === 'string' && type !== 'message')
    return /_(output|response)$/.test(type) ? { role: 'tool', content: [fields.kept(item, 'tool')] } : undefined;
  if (role === 'assistant') return undefined;
  const kept = { ...rest, ...given({ type }) };
  const known = role === 'system' || role === 'user' ? role : role === 'developer' ? 'system' : 'user';
  const parts =
    typeof content === 'string' ? content : objectsIn(content).map((piece) => partOfPiece(fields, piece, known));
  const message: Message = { role: known, content: parts };
  return fields.add(message, known === role ? kept : { role: role ?? null, ...kept });
}

function readResult(item: JsonObject, nameOf: (toolCallId: string) => string): Message {
  const { type, call_id: id, output, ...rest } = item;
  const toolCallId = asText(id);
  const part: ToolResultPart = {
    type: 'tool-result',
    toolCallId,
    toolName: nameOf(toolCallId),
    output: output ?? '',
  };
  return {
    role: 'tool',
    content: [fields.add(part, { ...rest, ...(type === 'function_call_output' ? {} : { type }) })],
  };
}

function readSpoken(item: JsonObject): readonly MessagePart[] {
  switch (item['type']) {
    case 'reasoning':
      return [readReasoning(item)];
    case 'function_call':
    case 'custom_tool_call':
      return [readCall(item)];
    case undefined:
    case 'message':
      return item['role'] === 'assistant' ? readWords(item) : [fields.kept(item, 'assistant')];
    default:
      return [fields.kept(item, 'assistant')];
  }
}

/** The first part of a message carries the message's own fields; the others say that they belong to it. */
function readWords(item: JsonObject): readonly MessagePart[] {
  const { content, role: _, ...rest } = item;
  const pieces = objectsIn(content);
  if (typeof content === 'string')
    return [fields.add({ type: 'text', text: content }, { item: { ...rest, content: 'text' } })];
  if (pieces.length === 0) return [fields.kept(item, 'assistant')];
  return pieces.map((piece, index) =>
    fields.add(partOfPiece(fields, piece, 'assistant'), index === 0 ? { item: rest } : { more: true }),
  );
}

/** A summary that is one plain text needs no copy; everything else is kept as it came. */
function readReasoning(item: JsonObject): MessagePart {
  const { summary, ...rest } = withoutKeys(item, ['type']);
  const pieces = objectsIn(summary);
  const text = (pieces.length > 0 ? pieces : objectsIn(rest['content']))
    .map((piece) => stringAt(piece, 'text') ?? '')
    .join('\n\n');
  const [only] = pieces;
  const isPlain = pieces.length === 1 && only?.['type'] === 'summary_text' && Object.keys(only).length === 2;
  return fields.add({ type: 'reasoning', text }, { item: rest, summary: isPlain ? undefined : (summary ?? null) });
}

function readCall(item: JsonObject): ToolCallPart {
  const { type, call_id: id, name, arguments: written, input, ...rest } = item;
  const isCustom = type === 'custom_tool_call';
  const text = asText(isCustom ? input : written);
  const part: ToolCallPart = {
    type: 'tool-call',
    toolCallId: asText(id),
    toolName: asText(name),
    input: isCustom ? text : valueOfText(text),
  };
  return fields.add(part, { ...(isCustom ? { type } : {}), ...rest });
}

/** Writes messages as items. */
export function writeItems(messages: readonly Message[]): readonly JsonObject[] {
  return messages.flatMap((message) => {
    switch (message.role) {
      case 'assistant':
        return writeSaid(partsOf(message));
      case 'tool':
        return partsOf(message).flatMap(writeAnswer);
      case 'system':
      case 'user':
        return [writeOther(message)];
    }
  });
}

function writeOther(message: Message): JsonObject {
  const { input: _, ...own } = fields.of(message);
  const { content } = message;
  const pieces = typeof content === 'string' ? content : content.flatMap((part) => pieceOfPart(fields, part, 'input'));
  return { role: message.role, content: pieces, ...own };
}

function writeAnswer(part: MessagePart): readonly JsonObject[] {
  const original = fields.original(part);
  if (original !== undefined) return original === null ? [] : [original];
  if (part.type !== 'tool-result') return [];
  const { type = 'function_call_output', ...own } = fields.of(part);
  const output = isContentList(part.output) ? part.output : textOfValue(part.output);
  return [{ type, call_id: part.toolCallId, output, ...own }];
}

/** Returns true if a tool's answer is a list of content, which is the one list that the protocol takes. */
const isContentList = (output: JsonValue): boolean =>
  Array.isArray(output) &&
  output.length > 0 &&
  output.every((piece: JsonValue) => /^input_(text|image|file)$/.test(stringAt(piece, 'type') ?? ''));

/** Adjacent words are one message, unless they say that they were not. */
function writeSaid(parts: readonly MessagePart[]): readonly JsonObject[] {
  const items: JsonObject[] = [];
  let words: JsonValue[] | undefined;
  for (const part of parts) {
    const { item, more } = fields.of(part);
    const pieces = isItem(fields, part) ? [] : pieceOfPart(fields, part, 'output');
    const [piece] = pieces;
    if (piece === undefined) {
      words = undefined;
      items.push(...writeItem(part));
    } else if (words !== undefined && (more === true || item === undefined)) words.push(piece);
    else if (part.type === 'text' && isPlainWords(item)) {
      words = undefined;
      items.push({ role: 'assistant', content: part.text, ...withoutKeys(isObject(item) ? item : {}, ['content']) });
    } else {
      words = [piece];
      items.push({ role: 'assistant', content: words, ...(isObject(item) ? item : {}) });
    }
  }
  return items;
}

/** A message that was a plain text stays one, and so does text of a different provider. */
const isPlainWords = (item: JsonValue | undefined): boolean =>
  item === undefined || (isObject(item) && item['content'] === 'text');

/** Returns true if a kept part is a separate item, and not a piece of a message. */
function isItem(of: ProviderFields, part: MessagePart): boolean {
  const { item, more } = of.of(part);
  return of.original(part) !== undefined && item === undefined && more !== true;
}

function writeItem(part: MessagePart): readonly JsonObject[] {
  const original = fields.original(part);
  if (original !== undefined) return original === null ? [] : [original];
  if (part.type === 'reasoning') return writeReasoning(part);
  return part.type === 'tool-call' ? [writeCall(part)] : [];
}

/** Reasoning of a different provider cannot be sent: only the model that wrote it can read it. */
function writeReasoning(part: ReasoningPart): readonly JsonObject[] {
  const { item, summary } = fields.of(part);
  if (!isObject(item)) return [];
  const plain = [{ type: 'summary_text', text: part.text }];
  return [{ type: 'reasoning', ...(summary === null ? {} : { summary: summary ?? plain }), ...item }];
}

function writeCall(part: ToolCallPart): JsonObject {
  const { type = 'function_call', ...own } = fields.of(part);
  const text = textOfValue(part.input);
  const written = type === 'custom_tool_call' ? { input: text } : { arguments: text };
  return { type, call_id: part.toolCallId, name: part.toolName, ...written, ...own };
}
