import { RepriseError } from '../../core/error.ts';
import { isArray, isObject, type JsonObject, type JsonValue, stringAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';

/** The output of a LangGraph serializer: the name of a form, and the bytes. */
export type TypedBytes = readonly [type: string, bytes: Uint8Array];

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Returns typed bytes as JSON: as text if they are text, else as base64. Every byte can be read back. */
export function typedJson([type, bytes]: TypedBytes): JsonObject {
  const text = type === 'json' ? textOf(bytes) : undefined;
  return text === undefined ? { type, bytes: base64(bytes) } : { type, text };
}

/**
 * Returns the value of a channel as the fields of a `channel.saved`. An array is kept item by item, so that a growing
 * conversation is stored once. Items are strings, not JSON values: prompts depend on the order of keys.
 */
export function channelFields([type, bytes]: TypedBytes): JsonObject {
  const text = type === 'json' ? textOf(bytes) : undefined;
  if (text === undefined) return { type, bytes: base64(bytes) };
  const items = itemsOf(text);
  if (items !== undefined) return { type, items };
  return text.length < limits.partBytesMin ? { type, text } : { type, body: text };
}

/** Reads typed bytes that were kept as JSON. */
export function typedBytes(held: JsonValue | undefined): TypedBytes {
  const type = stringAt(held, 'type');
  if (type === undefined || !isObject(held)) return refuse('it is missing or was erased');
  const { items, text, body, bytes } = held;
  const written = isArray(items) ? `[${items.map(itemText).join(',')}]` : (text ?? body);
  if (typeof written === 'string') return [type, encoder.encode(written)];
  if (typeof bytes !== 'string') return refuse('it is missing or was erased');
  return [type, Buffer.from(bytes, 'base64')];
}

function itemText(item: JsonValue): string {
  return typeof item === 'string' ? item : refuse('a part of it was erased');
}

/**
 * Returns the text of each item of an array; undefined if it is not an array or would not read back as the same text.
 */
function itemsOf(text: string): string[] | undefined {
  if (!text.startsWith('[')) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const items = value.map((item) => JSON.stringify(item) ?? '');
  return `[${items.join(',')}]` === text ? items : undefined;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function refuse(why: string): never {
  throw new RepriseError('event.not-found', `Cannot load a saved value of the graph: ${why}`, {
    hint: 'Continue from a different checkpoint, or from a branch forked before it.',
  });
}
