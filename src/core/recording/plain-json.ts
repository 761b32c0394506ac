import { isObject, type JsonObject, type JsonValue } from '../json.ts';
import { type BytesAs, recordable } from './recordable.ts';

/**
 * Turns any value into JSON as a recorder does; undefined becomes null. A value that is too large for any event is
 * returned as it is: the recorder reports that later, and the program being recorded must not notice.
 */
export function plainJson(value: unknown, bytesAs?: BytesAs): JsonValue {
  try {
    return recordable(value, bytesAs).value ?? null;
  } catch {
    return value as JsonValue;
  }
}

/** Turns an object whose properties may be undefined into JSON. */
export function plainObject(value: object, bytesAs?: BytesAs): JsonObject {
  const json = plainJson({ ...value }, bytesAs);
  return isObject(json) ? json : {};
}

/** Parses JSON text; returns text that is not JSON as it is. */
export function jsonOrText(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
