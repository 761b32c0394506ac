import type { JsonObject, JsonValue } from '../../core/json.ts';
import { recordable } from '../../core/recordable.ts';

/** Any value as JSON, as a recorder would keep it. */
export function plainJson(value: unknown): JsonValue {
  return recordable(value).value ?? null;
}

/** An object as JSON. */
export function plainObject(value: object): JsonObject {
  return plainJson({ ...value }) as JsonObject;
}
