import { given } from '../core/json.ts';
import type { FilePart, ImagePart, MessagePart } from '../core/message/message.ts';

/** The type of data of an unknown kind. */
export const unknownMediaType = 'application/octet-stream';

/** Where the data of a picture or file is: inline as base64, or at an address. */
export type MediaSource =
  | { readonly kind: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly kind: 'address'; readonly url: string };

/** Returns where the data of a part is. */
export function sourceOf(data: string, mediaType: string | undefined): MediaSource {
  const found = /^data:([^;,]*);base64,(.*)$/s.exec(data);
  if (found !== null)
    return { kind: 'data', mediaType: found[1] || (mediaType ?? unknownMediaType), base64: found[2] ?? '' };
  if (/^[a-z][a-z0-9+.-]*:/i.test(data)) return { kind: 'address', url: data };
  return { kind: 'data', mediaType: mediaType ?? unknownMediaType, base64: data };
}

/** Returns data as an address; base64 becomes a data URL. */
export function addressOf(data: string, mediaType: string | undefined): string {
  const source = sourceOf(data, mediaType);
  return source.kind === 'address' ? source.url : `data:${source.mediaType};base64,${source.base64}`;
}

/** Returns the media type that a data URL names. */
export function mediaTypeOf(url: string): string | undefined {
  return /^data:([^;,]+)/.exec(url)?.[1];
}

/** Returns base64 data as a picture or a file, by its type. */
export function mediaPart(data: string, mediaType: string | undefined, filename?: string): ImagePart | FilePart {
  if (mediaType?.startsWith('image/') === true) return { type: 'image', image: data, mediaType };
  return { type: 'file', data, mediaType: mediaType ?? unknownMediaType, ...given({ filename }) };
}

/** Returns the data and the media type of a picture or file; undefined for other parts. */
export function mediaOf(part: MessagePart): { readonly data: string; readonly mediaType?: string } | undefined {
  if (part.type === 'image') return { data: part.image, ...given({ mediaType: part.mediaType }) };
  return part.type === 'file' ? { data: part.data, mediaType: part.mediaType } : undefined;
}
