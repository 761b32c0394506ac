import { canonicalJson, parseJson } from '../../core/canonical-json.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { propertiesOf } from '../../core/property.ts';
import { plainJson, plainObject } from '../../core/recording/plain-json.ts';

/**
 * The key of provider options that keeps the fields of an item without a neutral form (ids, encrypted reasoning,
 * metadata). Provider options do not count when messages are compared.
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

/** Returns a part or message with fields of the provider; undefined fields are left out. */
export function withFields<T extends object>(target: T, fields: Readonly<Record<string, unknown>>): T {
  const kept = jsonFields(fields);
  return Object.keys(kept).length === 0 ? target : { ...target, providerOptions: { [namespace]: kept } };
}

/** Returns the kept fields of a part or message. */
export function fieldsOf(target: object): JsonObject {
  const { providerOptions } = propertiesOf(target);
  const fields = propertiesOf(providerOptions)[namespace];
  return isObject(fields) ? fields : {};
}

/** Parses JSON text; returns text that is not JSON, or has a number that cannot be stored exactly, as it is. */
export function valueOfText(text: string): JsonValue {
  try {
    const value = parseJson(text);
    // Not every value that parses can be stored.
    canonicalJson(value);
    return value;
  } catch {
    return text;
  }
}

/**
 * Returns a value as text, as the framework writes it. The original text is not kept with the value: it would still
 * contain a secret that is masked by the name of its field.
 */
export function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
