import type { JsonObject, JsonValue } from '../../core/json.ts';
import { recordable } from '../../core/recording/recordable.ts';

/**
 * Any value as JSON, as a recorder would keep it. What is too large for any event is given back as it is: the recorder
 * says so, and whoever is being recorded must not notice.
 */
export function plainJson(value: unknown): JsonValue {
  try {
    return recordable(value).value ?? null;
  } catch {
    return value as JsonValue;
  }
}

/** An object as JSON. */
export function plainObject(value: object): JsonObject {
  return plainJson({ ...value }) as JsonObject;
}
