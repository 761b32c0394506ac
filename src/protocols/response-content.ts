import { given, type JsonObject, stringAt } from '../core/json.ts';
import type { FilePart, ImagePart, MessagePart } from '../core/message/message.ts';
import { addressOf, mediaTypeOf, unknownMediaType } from './media.ts';
import type { ProviderFields } from './provider-fields.ts';

/** Returns a piece of a message's content as a part; a piece of an unknown kind is kept as it is. */
export function partOfPiece(
  fields: ProviderFields,
  piece: JsonObject,
  role: 'system' | 'user' | 'assistant',
): MessagePart {
  const { type, text, refusal, image_url: image, file_data: data, filename, ...rest } = piece;
  const spoken = role === 'assistant' ? 'output_text' : 'input_text';
  if ((type === 'input_text' || type === 'output_text') && typeof text === 'string')
    return fields.add({ type: 'text', text }, { ...(type === spoken ? {} : { type }), ...rest });
  if (type === 'refusal' && typeof refusal === 'string')
    return fields.add({ type: 'text', text: refusal }, { type, ...rest });
  if (type === 'input_image' && typeof image === 'string') {
    const part: ImagePart = { type: 'image', image, ...given({ mediaType: mediaTypeOf(image) }) };
    return fields.add(part, rest);
  }
  const source = typeof data === 'string' ? data : stringAt(rest, 'file_url');
  if (type !== 'input_file' || source === undefined) return fields.kept(piece, role);
  const part: FilePart = {
    type: 'file',
    data: source,
    mediaType: mediaTypeOf(source) ?? unknownMediaType,
    ...(typeof filename === 'string' ? { filename } : {}),
  };
  const { file_url: url, ...more } = rest;
  return fields.add(part, { ...more, ...given({ at: url === undefined ? undefined : 'file_url' }) });
}

/** Returns a part as pieces of a message's content; none for what is a separate item. */
export function pieceOfPart(
  fields: ProviderFields,
  part: MessagePart,
  side: 'input' | 'output',
): readonly JsonObject[] {
  const original = fields.original(part);
  if (original !== undefined) return original === null ? [] : [original];
  const { item: _, more: _more, ...own } = fields.of(part);
  switch (part.type) {
    case 'text': {
      const { type = `${side}_text`, ...rest } = own;
      return [{ type, [type === 'refusal' ? 'refusal' : 'text']: part.text, ...rest }];
    }
    case 'image':
      return [{ type: 'input_image', image_url: addressOf(part.image, part.mediaType ?? 'image/png'), ...own }];
    case 'file':
      return [filePiece(part, own)];
    default:
      return [];
  }
}

function filePiece(part: FilePart, { at, ...own }: JsonObject): JsonObject {
  const { data, mediaType, filename } = part;
  if (mediaType.startsWith('image/')) return { type: 'input_image', image_url: addressOf(data, mediaType), ...own };
  const isAddress = at === 'file_url' || /^https?:/.test(data);
  const source = isAddress
    ? { file_url: data }
    : { file_data: mediaType === unknownMediaType ? data : addressOf(data, mediaType) };
  return { type: 'input_file', ...source, ...given({ filename }), ...own };
}
