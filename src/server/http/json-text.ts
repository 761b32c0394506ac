import { parseJson } from '../../core/canonical-json.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../core/json.ts';

/** Reads a field of JSON text. */
export function jsonIn(text: string, field: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    if (hasCode(error, 'json.unsafe-number')) throw error;
    throw refused(field, 'is not JSON');
  }
}

/** Reads a field with the JSON text of an object; an empty string is an empty object. */
export function objectIn(text: string, field: string): JsonObject {
  const value = text === '' ? {} : jsonIn(text, field);
  if (isObject(value)) return value;
  throw refused(field, 'is not an object');
}

/** Reads a field with the JSON text of a list; an empty string is an empty list. */
export function listIn(text: string, field: string): readonly JsonValue[] {
  const value = text === '' ? [] : jsonIn(text, field);
  if (isArray(value)) return value;
  throw refused(field, 'is not a list');
}

function refused(field: string, why: string): RepriseError {
  return new RepriseError('option.invalid', `Cannot read the request: "${field}" ${why}`, {
    hint: 'See docs/reference/wire.md for the fields of a call.',
    details: { path: field },
  });
}
