import { given, isObject, type JsonObject, stringAt } from '../core/json.ts';
import type { FilePart, ImagePart, MessagePart } from '../core/message/message.ts';
import { asText } from './json-text.ts';
import { addressOf, mediaTypeOf, sourceOf, unknownMediaType } from './media.ts';
import { withoutKeys } from './message-list.ts';
import type { ProviderFields } from './provider-fields.ts';

/** Returns a piece of a chat message's content as a part; a piece of an unknown kind is kept as it is. */
export function partOfContent(
  fields: ProviderFields,
  piece: JsonObject,
  role: 'system' | 'user' | 'assistant',
): MessagePart {
  const { type, ...rest } = piece;
  if (type === 'text' && typeof rest['text'] === 'string')
    return fields.add({ type: 'text', text: rest['text'] }, withoutKeys(rest, ['text']));
  if (type === 'refusal' && typeof rest['refusal'] === 'string')
    return fields.add({ type: 'text', text: rest['refusal'] }, { kind: 'refusal', ...withoutKeys(rest, ['refusal']) });
  if (type === 'image_url') return imagePart(fields, rest) ?? fields.kept(piece, role);
  if (type === 'input_audio' || type === 'file') return filePart(fields, piece) ?? fields.kept(piece, role);
  return fields.kept(piece, role);
}

function imagePart(fields: ProviderFields, { image_url: held, ...more }: JsonObject): MessagePart | undefined {
  const url = stringAt(held, 'url');
  if (url === undefined || !isObject(held)) return undefined;
  const part: ImagePart = { type: 'image', image: url, ...given({ mediaType: mediaTypeOf(url) }) };
  return fields.add(part, { ...withoutKeys(held, ['url']), ...more });
}

function filePart(fields: ProviderFields, piece: JsonObject): MessagePart | undefined {
  const { type, ...rest } = piece;
  const held = rest[asText(type)];
  const data = stringAt(held, 'data') ?? stringAt(held, 'file_data');
  if (data === undefined || !isObject(held)) return undefined;
  const filename = stringAt(held, 'filename');
  const format = stringAt(held, 'format');
  const mediaType = type === 'input_audio' ? `audio/${format}` : (mediaTypeOf(data) ?? unknownMediaType);
  const part: FilePart = { type: 'file', data, mediaType, ...given({ filename }) };
  const own = withoutKeys(held, ['data', 'file_data', 'filename', 'format']);
  return fields.add(part, { ...own, ...withoutKeys(rest, [asText(type)]) });
}

/** Returns a part as pieces of a chat message's content; none for what has its own place in the message. */
export function contentOfPart(fields: ProviderFields, part: MessagePart): readonly JsonObject[] {
  const original = fields.original(part);
  if (original !== undefined) return original === null ? [] : [original];
  const own = fields.of(part);
  switch (part.type) {
    case 'text': {
      const { kind, ...rest } = own;
      if (kind === 'refusal') return [{ type: 'refusal', refusal: part.text, ...rest }];
      return [{ type: 'text', text: part.text, ...rest }];
    }
    case 'image':
      return [{ type: 'image_url', image_url: { url: addressOf(part.image, part.mediaType ?? 'image/png'), ...own } }];
    case 'file':
      return [fileContent(part, own)];
    default:
      return [];
  }
}

function fileContent(part: FilePart, own: JsonObject): JsonObject {
  if (part.mediaType.startsWith('image/'))
    return { type: 'image_url', image_url: { url: addressOf(part.data, part.mediaType), ...own } };
  if (part.mediaType.startsWith('audio/')) {
    const source = sourceOf(part.data, part.mediaType);
    const data = source.kind === 'data' ? source.base64 : source.url;
    return { type: 'input_audio', input_audio: { data, format: part.mediaType.slice('audio/'.length), ...own } };
  }
  const isBare = part.mediaType === unknownMediaType;
  const file = {
    file_data: isBare ? part.data : addressOf(part.data, part.mediaType),
    ...given({ filename: part.filename }),
  };
  return { type: 'file', file: { ...file, ...own } };
}
