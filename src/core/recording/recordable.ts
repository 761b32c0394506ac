import { hasCode } from '../error.ts';
import { type JsonValue, setKey } from '../json.ts';
import { checkLimit, limits } from '../limits.ts';
import { propertiesOf } from '../property.ts';
import { errorRecord } from './error-record.ts';

/** A value as JSON, and its rough size. */
export interface Recordable {
  readonly value: JsonValue | undefined;
  /** UTF-16 units of its strings and keys, and a few for everything else. */
  readonly units: number;
}

/**
 * Turns any value into JSON. It is a copy, so that the program may change the value afterwards. JSON stays as it is.
 * For the rest:
 *
 * - properties that are `undefined` are left out; in an array they become null;
 * - dates become ISO 8601, errors `{ name, message, code?, status? }`, big and inexact integers their digits;
 * - sets become arrays, maps arrays of pairs, and an object with a `toJSON` what that returns;
 * - other objects become their own enumerable properties;
 * - lone surrogates are replaced by U+FFFD;
 * - anything else becomes text in brackets: `[function lookUp]`, `[circular]`, `[NaN]`, `[Uint8Array of 12 bytes]`,
 *   `[nested too deeply]`.
 *
 * It throws only `limit.exceeded`, for a value too large for any append. With `bytesAs`, bytes become the text it
 * returns.
 */
export function recordable(value: unknown, bytesAs?: BytesAs): Recordable {
  const copying: Copying = { units: 0, ancestors: [], bytesAs };
  return { value: copyOf(value, copying), units: copying.units };
}

/** Turns bytes into text, such as base64. */
export type BytesAs = (bytes: ArrayBuffer | ArrayBufferView) => string;

interface Copying {
  units: number;
  readonly ancestors: object[];
  readonly bytesAs: BytesAs | undefined;
}

/** The rough size of a number, a bracket or a comma. */
const smallUnits = 8;

function weigh(copying: Copying, units: number): void {
  copying.units += units;
  if (copying.units > limits.appendBytesMax) checkLimit('appendBytesMax', copying.units, 'record a value');
}

function copyOf(value: unknown, copying: Copying): JsonValue | undefined {
  weigh(copying, smallUnits);
  switch (typeof value) {
    case 'string':
      return text(value, copying);
    case 'boolean':
    case 'undefined':
      return value;
    case 'number':
      return numberOf(value);
    case 'bigint':
      return text(value.toString(), copying);
    case 'symbol':
      return `[${value.toString()}]`;
    case 'function':
      return `[function ${nameOf(value)}]`;
    case 'object':
      return value === null ? null : objectOf(value, copying);
  }
}

function text(value: string, copying: Copying): string {
  weigh(copying, value.length);
  return value.isWellFormed() ? value : value.toWellFormed();
}

/** Returns an inexact integer as its digits: an integer in JSON text must be exact. */
function numberOf(value: number): JsonValue {
  if (!Number.isFinite(value)) return `[${value}]`;
  return !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21
    ? value
    : BigInt(value).toString();
}

function objectOf(value: object, copying: Copying): JsonValue {
  if (copying.ancestors.includes(value)) return '[circular]';
  if (copying.ancestors.length >= depthMax) return '[nested too deeply]';
  copying.ancestors.push(value);
  try {
    return insideOf(value, copying) ?? null;
  } catch (error) {
    if (isTooLarge(error)) throw error;
    return '[unreadable object]';
  } finally {
    copying.ancestors.pop();
  }
}

/** Data is inside an event, and an event may be inside a marker. */
const depthMax: number = limits.jsonDepthMax - 4;

const isTooLarge = (error: unknown): boolean => hasCode(error, 'limit.exceeded');

function insideOf(value: object, copying: Copying): JsonValue | undefined {
  if (Array.isArray(value)) return Array.from(value, (item: unknown) => copyOf(item, copying) ?? null);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '[invalid date]' : value.toISOString();
  if (value instanceof Error) return copyOf(errorRecord(value), copying);
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return text(copying.bytesAs?.(value) ?? `[${className(value)} of ${value.byteLength} bytes]`, copying);
  if (value instanceof Set) return Array.from(value, (item: unknown) => copyOf(item, copying) ?? null);
  if (value instanceof Map)
    return Array.from(value, ([key, item]) => [copyOf(key, copying) ?? null, copyOf(item, copying) ?? null]);
  if (value instanceof RegExp) return String(value);
  if (isOpaque(value)) return `[${className(value)}]`;
  const { toJSON } = propertiesOf(value);
  if (typeof toJSON === 'function') return copyOf(toJSON.call(value), copying);
  return ownPropertiesOf(value, copying);
}

const isOpaque = (value: object): boolean =>
  value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef;

function ownPropertiesOf(value: object, copying: Copying): JsonValue {
  const copy: Record<string, JsonValue> = {};
  const properties = propertiesOf(value);
  for (const key of Object.keys(properties)) {
    const item = copyOf(propertyOf(properties, key), copying);
    if (item !== undefined) setKey(copy, text(key, copying), item);
  }
  return copy;
}

function propertyOf(properties: Readonly<Record<string, unknown>>, key: string): unknown {
  try {
    return properties[key];
  } catch {
    return '[unreadable property]';
  }
}

function className(value: object): string {
  const made: unknown = value.constructor;
  return typeof made === 'function' && made.name !== '' ? made.name : 'object';
}

const nameOf = (value: unknown): string => {
  const { name } = propertiesOf(value);
  return typeof name === 'string' && name !== '' ? name.slice(0, 100).toWellFormed() : 'without a name';
};
