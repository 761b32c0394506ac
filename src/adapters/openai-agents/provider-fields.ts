import { canonicalJson, parseJson } from '../../core/canonical-json.ts';
import { isObject, type JsonObject, type JsonValue, valueAt } from '../../core/json.ts';
import { recordable } from '../../core/recording/recordable.ts';

/**
 * What an item holds beyond the neutral form (ids, encrypted reasoning, metadata) is kept here on a
 * message or part. Keys of providers do not count when messages are compared.
 */
const namespace = 'openaiAgents';

/**
 * A value as JSON, as a recorder would keep it, but with bytes as base64; undefined stays undefined. What is too large for
 * any event is given back as it is: the recorder says so, and whoever is being recorded must not notice.
 */
export function toJson(value: unknown): JsonValue | undefined {
  try {
    return recordable(value, base64Of).value;
  } catch {
    return value as JsonValue;
  }
}

function base64Of(bytes: ArrayBufferView | ArrayBuffer): string {
  const view = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('base64');
}

/** A part or message with fields of the provider; those that are undefined are left out. */
export function withFields<T extends object>(target: T, fields: Readonly<Record<string, unknown>>): T {
  const kept = toJson(fields) as JsonObject;
  return Object.keys(kept).length === 0 ? target : { ...target, providerOptions: { [namespace]: kept } };
}

/** The fields that were kept. */
export function fieldsOf(target: object): JsonObject {
  const fields = valueAt(target as JsonObject, ['providerOptions', namespace]);
  return isObject(fields) ? fields : {};
}

/** The value that JSON text stands for; text that is none, or has a number that cannot be carried, stays text. */
export function valueOfText(text: string): JsonValue {
  try {
    const value = parseJson(text);
    // Not every text that parses can be stored.
    canonicalJson(value);
    return value;
  } catch {
    return text;
  }
}

/**
 * The text of a value, as the framework writes it. The text that a value once was is not kept beside it: a secret that is
 * masked by the name of its field would still be in there.
 */
export function textOfValue(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
