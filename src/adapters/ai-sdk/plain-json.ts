import { type JsonObject, type JsonValue, setKey } from '../../core/json.ts';

/**
 * A value as JSON: bytes become base64, addresses and dates text; what JSON has no word for is left out. A value that
 * contains itself is left out where it does.
 */
export function plainJson(value: unknown): JsonValue {
  return jsonOf(value, new Set()) ?? null;
}

/** The same for an object whose properties may be undefined. */
export function plainObject(value: object): JsonObject {
  return plainJson({ ...value }) as JsonObject;
}

/** Bytes as base64. */
export function base64Of(bytes: Uint8Array | ArrayBuffer): string {
  const view = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('base64');
}

function jsonOf(value: unknown, within: ReadonlySet<object>): JsonValue | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'bigint':
      return value.toString();
    case 'object':
      return value === null ? null : objectJson(value, within);
    default:
      return undefined;
  }
}

function objectJson(value: object, within: ReadonlySet<object>): JsonValue | undefined {
  if (within.has(value)) return undefined;
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return base64Of(value);
  if (value instanceof Error) return { name: value.name, message: value.message };
  const inside = new Set(within).add(value);
  if ('toJSON' in value && typeof value.toJSON === 'function') return jsonOf(value.toJSON(), inside);
  if (Array.isArray(value)) return value.map((item) => jsonOf(item, inside) ?? null);
  const copy: Record<string, JsonValue> = {};
  for (const [key, held] of Object.entries(value)) {
    const json = jsonOf(held, inside);
    if (json !== undefined) setKey(copy, key, json);
  }
  return copy;
}
