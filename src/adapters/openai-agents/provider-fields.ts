import { canonicalJson, parseJson } from '../../core/canonical-json.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { propertiesOf } from '../../core/property.ts';
import { plainJson, plainObject } from '../../core/recording/plain-json.ts';

/**
 * What an item holds beyond the neutral form (ids, encrypted reasoning, metadata) is kept here on a
 * message or part. Keys of providers do not count when messages are compared.
 */
const namespace = 'openaiAgents';

/** Turns any value into JSON as a recorder does, with bytes as base64; undefined stays undefined. */
export function toJson(value: unknown): JsonValue | undefined {
  return value === undefined ? undefined : plainJson(value, base64Of);
}

/** Turns an object into JSON, with bytes as base64; properties that are undefined are left out. */
export const jsonFields = (fields: object): JsonObject => plainObject(fields, base64Of);

function base64Of(bytes: ArrayBufferView | ArrayBuffer): string {
  const view = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('base64');
}

/** A part or message with fields of the provider; those that are undefined are left out. */
export function withFields<T extends object>(target: T, fields: Readonly<Record<string, unknown>>): T {
  const kept = jsonFields(fields);
  return Object.keys(kept).length === 0 ? target : { ...target, providerOptions: { [namespace]: kept } };
}

/** The fields that were kept. */
export function fieldsOf(target: object): JsonObject {
  const { providerOptions } = propertiesOf(target);
  const fields = propertiesOf(providerOptions)[namespace];
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
export function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
