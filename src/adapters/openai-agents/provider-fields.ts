import { canonicalJson, parseJson } from '../../core/canonical-json.ts';
import { isObject, type JsonObject, type JsonValue, valueAt } from '../../core/json.ts';

/**
 * What an item holds beyond the neutral form (ids, encrypted reasoning, metadata) is kept here on a
 * message or part. Keys of providers do not count when messages are compared.
 */
const namespace = 'openaiAgents';

/** A value as JSON; bytes become base64, and undefined stays undefined. */
export function toJson(value: unknown): JsonValue | undefined {
  const text = JSON.stringify(value, function (this: unknown, key, held: unknown) {
    // A Buffer has turned itself into an object by now; the holder still has it.
    const own = (this as Record<string, unknown>)[key];
    return ArrayBuffer.isView(own) ? Buffer.from(own.buffer, own.byteOffset, own.byteLength).toString('base64') : held;
  }) as string | undefined;
  return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
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
