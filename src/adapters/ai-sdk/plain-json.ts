import type { JsonObject, JsonValue } from '../../core/json.ts';
import { recordable } from '../../core/recording/recordable.ts';

/**
 * Any value as JSON, as a recorder would keep it, but with bytes as base64. What is too large for any event is given back
 * as it is: the recorder says so, and whoever is being recorded must not notice.
 */
export function plainJson(value: unknown): JsonValue {
  try {
    return recordable(value, base64Of).value ?? null;
  } catch {
    return value as JsonValue;
  }
}

/** The same for an object whose properties may be undefined. */
export function plainObject(value: object): JsonObject {
  return plainJson({ ...value }) as JsonObject;
}

/** Bytes as base64. */
export function base64Of(bytes: ArrayBufferView | ArrayBuffer): string {
  const view = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('base64');
}
