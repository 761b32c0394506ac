import { given, isObject, type JsonObject, type JsonValue, stringAt } from '../core/json.ts';
import type { MessagePart, Role, ToolResultPart } from '../core/message/message.ts';
import { asText, inputOfObject, objectOfInput, textOfValue } from './json-text.ts';
import { mediaOf, sourceOf, unknownMediaType } from './media.ts';
import { type ProviderFields, providerFields } from './provider-fields.ts';

/** The fields that Anthropic's messages keep in addition to the neutral form. */
export const anthropicFields: ProviderFields = providerFields('anthropicMessages');
const fields = anthropicFields;

/** Returns a content block as a part; a block of an unknown kind is kept as it is. */
export function partOfBlock(block: JsonObject, role: Role): MessagePart {
  const { type, ...rest } = block;
  switch (type) {
    case 'text': {
      const { text, ...own } = rest;
      return typeof text === 'string' ? fields.add({ type, text }, own) : fields.kept(block, role);
    }
    case 'thinking': {
      const { thinking, ...own } = rest;
      return fields.add({ type: 'reasoning', text: asText(thinking) }, own);
    }
    case 'redacted_thinking':
      return fields.add({ type: 'reasoning', text: '' }, { type, ...rest });
    case 'tool_use': {
      const { id, name, input, ...own } = rest;
      const part = { type: 'tool-call', toolCallId: asText(id), toolName: asText(name) } as const;
      return fields.add({ ...part, input: inputOfObject(input) }, own);
    }
    case 'image':
    case 'document':
      return mediaOfBlock(block) ?? fields.kept(block, role);
    default:
      return fields.kept(block, role);
  }
}

function mediaOfBlock({ type, source, ...own }: JsonObject): MessagePart | undefined {
  const kind = stringAt(source, 'type');
  const data = stringAt(source, kind === 'base64' ? 'data' : 'url');
  if ((kind !== 'base64' && kind !== 'url') || data === undefined) return undefined;
  const mediaType = stringAt(source, 'media_type');
  const part: MessagePart =
    type === 'image'
      ? { type, image: data, ...given({ mediaType }) }
      : { type: 'file', data, mediaType: mediaType ?? unknownMediaType };
  return fields.add(part, own);
}

/** Returns the answer of a tool as a part. */
export function partOfResult(block: JsonObject, nameOf: (toolCallId: string) => string): ToolResultPart {
  const { type: _, tool_use_id: id, content, is_error: isError, ...rest } = block;
  const toolCallId = asText(id);
  const part: ToolResultPart = {
    type: 'tool-result',
    toolCallId,
    toolName: nameOf(toolCallId),
    output: content ?? '',
    ...(isError === true ? { isError } : {}),
  };
  return fields.add(part, {
    ...rest,
    is_error: isError === true ? undefined : isError,
    content: content === undefined ? 'absent' : undefined,
  });
}

/** Returns a part as content blocks; none for what cannot be sent. */
export function blockOfPart(part: MessagePart): readonly JsonObject[] {
  const original = fields.original(part);
  if (original !== undefined) return original === null ? [] : [original];
  const own = fields.of(part);
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text, ...own }];
    case 'reasoning':
      return thinkingBlock(part.text, own);
    case 'tool-call':
      return [{ type: 'tool_use', id: part.toolCallId, name: part.toolName, input: objectOfInput(part.input), ...own }];
    case 'tool-result':
      return [resultBlock(part, own)];
    case 'image':
    case 'file':
      return [mediaBlock(part, own)];
  }
}

/** Only thinking that carries the signature of its model can be sent back. */
function thinkingBlock(text: string, own: JsonObject): readonly JsonObject[] {
  if (own['type'] === 'redacted_thinking') return [own];
  return own['signature'] === undefined ? [] : [{ type: 'thinking', thinking: text, ...own }];
}

function mediaBlock(part: Extract<MessagePart, { type: 'image' | 'file' }>, own: JsonObject): JsonObject {
  const { data = '', mediaType } = mediaOf(part) ?? {};
  const isImage = part.type === 'image' || part.mediaType.startsWith('image/');
  const source = sourceOf(data, mediaType);
  const held =
    source.kind === 'address'
      ? { type: 'url', url: source.url }
      : { type: 'base64', media_type: source.mediaType, data: source.base64 };
  return { type: isImage ? 'image' : 'document', source: held, ...own };
}

function resultBlock(part: ToolResultPart, { content: form, ...own }: JsonObject): JsonObject {
  const content = isBlockList(part.output) ? part.output : textOfValue(part.output);
  return {
    type: 'tool_result',
    tool_use_id: part.toolCallId,
    ...(form === 'absent' ? {} : { content }),
    ...(part.isError === true ? { is_error: true } : {}),
    ...own,
  };
}

const resultBlocks: ReadonlySet<unknown> = new Set(['text', 'image', 'document', 'search_result', 'tool_reference']);

/** Returns true if a tool's answer is a list of content blocks, which is the one list that the protocol takes. */
const isBlockList = (output: JsonValue): boolean =>
  Array.isArray(output) && output.every((block: JsonValue) => isObject(block) && resultBlocks.has(block['type']));
