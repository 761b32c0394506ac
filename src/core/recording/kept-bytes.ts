import { isObject, type JsonObject, stringAt } from '../json.ts';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Returns bytes as base64: a unit that is not text is kept so. */
export function keepBytes(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3);
    const bits = (a << 16) | (b << 8) | c;
    text += `${letters[bits >> 18]}${letters[(bits >> 12) & 63]}`;
    text += at + 1 < bytes.length ? letters[(bits >> 6) & 63] : '=';
    text += at + 2 < bytes.length ? letters[bits & 63] : '=';
  }
  return text;
}

/** Returns the bytes of base64 text. */
export function keptBytes(text: string): Uint8Array {
  const plain = text.replace(/=+$/, '');
  const bytes = new Uint8Array(Math.floor((plain.length * 3) / 4));
  let [bits, count, at] = [0, 0, 0];
  for (const letter of plain) {
    bits = ((bits << 6) | letters.indexOf(letter)) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[at++] = (bits >> count) & 0xff;
  }
  return bytes;
}

/** A byte that is not text is this half of a surrogate pair, plus the byte: no text has it alone. */
const oddByte = 0xdc00;
const oddBytes = /([\udc80-\udcff])/u;
const replacement = '\ufffd';

/** Returns bytes as a string in which everything that is UTF-8 can be read; {@link bytesOfText} gives the bytes back. */
export function textOfBytes(bytes: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const pieces: string[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = lengthOf(bytes[at] ?? 0);
    const isText = length === 1 || (length > 1 && isChar(decoder, bytes.subarray(at, at + length)));
    if (!isText) {
      pieces.push(decoder.decode(bytes.subarray(start, at)), String.fromCharCode(oddByte + (bytes[at] ?? 0)));
      start = at + 1;
    }
    at += isText ? length : 1;
  }
  return [...pieces, decoder.decode(bytes.subarray(start))].join('');
}

/** Returns how many bytes a character has that begins with this one; 0 if none does. */
function lengthOf(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc2 || byte > 0xf4) return 0;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/** Returns true if bytes are a character. The decoder puts the replacement character for anything else. */
function isChar(decoder: TextDecoder, bytes: Uint8Array): boolean {
  const text = decoder.decode(bytes);
  return !text.includes(replacement) || (bytes[0] === 0xef && bytes[1] === 0xbf && bytes[2] === 0xbd);
}

/** Returns the bytes of a string that {@link textOfBytes} made. */
export function bytesOfText(text: string): Uint8Array {
  const encoder = new TextEncoder();
  // Every second piece is an odd byte.
  const pieces = text
    .split(oddBytes)
    .map((piece, index) => (index % 2 === 1 ? Uint8Array.of(piece.charCodeAt(0) - oddByte) : encoder.encode(piece)));
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Returns the data of an event with the bytes of its unit as text, for a search; the same data if it keeps none. */
export function readableData(data: JsonObject): JsonObject {
  const { foreign } = data;
  const bytes = isObject(foreign) ? stringAt(foreign, 'bytes') : undefined;
  return bytes === undefined
    ? data
    : { ...data, foreign: { ...(foreign as JsonObject), bytes: textOfBytes(keptBytes(bytes)) } };
}

const bytesInJson = /"bytes":"([A-Za-z0-9+/]+={0,2})"/g;

/** Returns the strings of the bytes that stored JSON keeps. */
export function textsOfBytesIn(json: string): readonly string[] {
  if (!json.includes('"bytes":"')) return [];
  return Array.from(json.matchAll(bytesInJson), ([, kept = '']) => textOfBytes(keptBytes(kept)));
}
