import { canonicalJson, parseJson } from '../core/canonical-json.ts';
import { isObject, type JsonObject, type JsonValue } from '../core/json.ts';

/**
 * Returns the value that the arguments of a tool call encode. Text that is not JSON, that has a number which cannot be
 * carried exactly, or that is a JSON string stays the text it is; nothing at all is an empty object.
 */
export function valueOfText(text: string): JsonValue {
  if (text.trim() === '') return {};
  try {
    const value = parseJson(text);
    // Not every text that parses can be stored.
    canonicalJson(value);
    return typeof value === 'string' ? text : value;
  } catch {
    return text;
  }
}

/**
 * Returns a value as the text that a provider is sent. The text that arguments arrived in is not kept with their value:
 * a secret that is masked by the name of its field would still be in that text.
 */
export function textOfValue(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns a value that should be text: null and nothing are empty, and anything else is its JSON. */
export function asText(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : textOfValue(value);
}

/** The key under which arguments that are not JSON are sent to a provider that takes an object. */
const brokenKey = 'INVALID_JSON';

/** Returns arguments as an object, for protocols that take nothing else. */
export function objectOfInput(input: JsonValue): JsonObject {
  return isObject(input) ? input : { [brokenKey]: textOfValue(input) };
}

/** Returns the arguments that such an object encodes. */
export function inputOfObject(value: JsonValue | undefined): JsonValue {
  if (!isObject(value)) return value === undefined ? {} : value;
  const broken = value[brokenKey];
  return typeof broken === 'string' && Object.keys(value).length === 1 ? broken : value;
}

/** Returns an event's data as an object where it is one. */
export function eventData(text: string): JsonObject | string {
  if (!text.startsWith('{')) return text;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
}
