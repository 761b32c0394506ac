import type { protocol } from '@openai/agents';
import { given, type JsonObject } from '../../core/json.ts';
import type { FilePart, ImagePart, MessagePart, TextPart } from '../../core/message/message.ts';
import { fieldsOf, withFields } from './provider-fields.ts';

/** A piece of a user's or an assistant's message in the framework. */
export type Content = protocol.UserContent | protocol.AssistantContent;

const unknownMediaType = 'application/octet-stream';

/** Returns a piece of content as a part, with the framework's own fields. */
export function partOfContent(content: Content): MessagePart {
  switch (content.type) {
    case 'input_text':
    case 'output_text': {
      const { type: _, text, ...rest } = content;
      return withFields({ type: 'text', text }, rest);
    }
    case 'refusal': {
      const { type, refusal, ...rest } = content;
      return withFields({ type: 'text', text: refusal }, { type, ...rest });
    }
    case 'input_image':
    case 'image': {
      const { type, image, ...rest } = content;
      const kept = typeof image === 'string' ? undefined : (image ?? null);
      const own = type === 'image' ? { type } : {};
      return withFields({ type: 'image', image: textOfSource(image) }, { ...own, image: kept, ...rest });
    }
    case 'input_file': {
      const { type: _, file, filename, ...rest } = content;
      const data = textOfSource(file);
      const part: FilePart = {
        type: 'file',
        data,
        mediaType: mediaTypeOf(data) ?? unknownMediaType,
        ...given({ filename }),
      };
      return withFields(part, { file: typeof file === 'string' ? undefined : (file ?? null), ...rest });
    }
    case 'audio': {
      const { type, audio, ...rest } = content;
      const mediaType = `audio/${rest.format ?? 'unknown'}`;
      const kept = typeof audio === 'string' ? undefined : audio;
      return withFields({ type: 'file', data: textOfSource(audio), mediaType }, { type, audio: kept, ...rest });
    }
  }
}

/** Returns data, its address, or the id of an uploaded file. */
function textOfSource(source: string | { readonly id: string } | { readonly url: string } | undefined): string {
  if (typeof source !== 'object') return source ?? '';
  return 'id' in source ? source.id : source.url;
}

function mediaTypeOf(data: string): string | undefined {
  return /^data:([^;,]+)/.exec(data)?.[1];
}

/** Returns a part as content of a user's message; undefined if such a message cannot contain it. */
export function userContent(part: MessagePart): protocol.UserContent | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text, ...fieldsOf(part) };
    case 'image':
      return inputImage(part);
    case 'file':
      return inputFile(part);
    default:
      return undefined;
  }
}

function inputImage(part: ImagePart): protocol.UserContent {
  const { type: _, image, ...rest } = fieldsOf(part);
  if (image !== undefined) return asContent({ type: 'input_image', image, ...rest });
  return asContent({ type: 'input_image', image: dataAddress(part.image, part.mediaType), ...rest });
}

function inputFile(part: FilePart): protocol.UserContent {
  const { type, file, audio, ...rest } = fieldsOf(part);
  if (type === 'audio') return asContent({ type, audio: audio ?? part.data, ...rest });
  const filename = given({ filename: part.filename });
  if (part.mediaType.startsWith('image/')) return asContent({ type: 'input_image', image: addressOf(part), ...rest });
  if (part.mediaType.startsWith('audio/') && file === undefined)
    return asContent({ type: 'audio', audio: part.data, format: part.mediaType.slice('audio/'.length), ...rest });
  return asContent({ type: 'input_file', file: file ?? addressOf(part), ...filename, ...rest });
}

function addressOf({ data, mediaType }: FilePart): string {
  return dataAddress(data, mediaType === unknownMediaType ? undefined : mediaType);
}

/** Returns the address of data; data without one gets an address with its type. */
function dataAddress(data: string, mediaType: string | undefined): string {
  return mediaType === undefined || /^(https?|data):/.test(data) ? data : `data:${mediaType};base64,${data}`;
}

/** Returns a part as content of an assistant's message; undefined if it is a separate item. */
export function assistantContent(part: MessagePart): protocol.AssistantContent | undefined {
  switch (part.type) {
    case 'text':
      return assistantText(part);
    case 'image':
      return asContent({ ...contentFields(part), type: 'image', image: part.image });
    case 'file': {
      const { audio, ...rest } = contentFields(part);
      return asContent({ ...rest, type: 'audio', audio: audio ?? part.data });
    }
    default:
      return undefined;
  }
}

function assistantText(part: TextPart): protocol.AssistantContent {
  const fields = contentFields(part);
  if (fields['type'] === 'refusal') return asContent({ ...fields, type: 'refusal', refusal: part.text });
  return asContent({ ...fields, type: 'output_text', text: part.text });
}

/** Returns the fields of a piece of content, without those of its message. */
function contentFields(part: MessagePart): JsonObject {
  const { item: _item, more: _more, ...rest } = fieldsOf(part);
  return rest;
}

/** Takes JSON as content: it has the shape in which it came. */
const asContent = <T>(content: object): T => content as T;
