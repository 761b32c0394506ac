import type { JsonObject, JsonValue } from '../../core/json.ts';
import { plainJson as json, plainObject as jsonObject } from '../../core/recording/plain-json.ts';

/** Turns any value into JSON as a recorder does, with bytes as base64. */
export const plainJson = (value: unknown): JsonValue => json(value, base64Of);

/** Turns an object whose properties may be undefined into JSON, with bytes as base64. */
export const plainObject = (value: object): JsonObject => jsonObject(value, base64Of);

/** Encodes bytes as base64. */
export function base64Of(bytes: ArrayBufferView | ArrayBuffer): string {
  const view = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('base64');
}
