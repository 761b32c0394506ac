import { messageOf, RepriseError } from './error.ts';
import { isArray, type JsonInput, type JsonInputValue, type JsonObject, type JsonValue, setKey } from './json.ts';
import { checkBytes, limits } from './limits.ts';

/**
 * Returns the canonical JSON text of a value (RFC 8785): one value, one byte sequence. It drops properties that are
 * `undefined`, as JSON does, and refuses anything else that JSON cannot carry exactly, with the path to it.
 */
export function canonicalJson(value: unknown): string {
  const copy = sorted(value, 0);
  return textOf(value, copy);
}

/**
 * Returns the canonical text of a value, and a deep copy of the value as that text would be parsed. Writing the text
 * makes the copy anyway, so a caller who needs both walks the value once.
 */
export function canonicalForm(value: JsonInput): { readonly text: string; readonly copy: JsonObject };
export function canonicalForm(value: JsonInputValue): { readonly text: string; readonly copy: JsonValue };
export function canonicalForm(value: JsonInputValue): { readonly text: string; readonly copy: JsonValue } {
  const copy = sorted(value, 0);
  const text = textOf(value, copy);
  return { text, copy: (copy === needsSlowPath ? JSON.parse(text) : copy) as JsonValue };
}

function textOf(value: unknown, copy: unknown): string {
  const text = copy === needsSlowPath ? slowText(value) : JSON.stringify(copy);
  // JSON.stringify escapes a lone surrogate, so only JSON with such an escape needs a closer look.
  if (text.includes('\\ud')) checkWellFormed(value, '');
  return text;
}

/**
 * Returns the JSON text of a value with its keys in the order they have; refuses what {@link canonicalJson} refuses. It
 * makes no sorted copy, which for a large value takes several times the memory of the text.
 */
export function orderedJson(value: unknown): string {
  return orderedWithin(value, Number.POSITIVE_INFINITY) as string;
}

/** Does the same; undefined if the text surely has more characters than a number, which is found before it is written. */
export function orderedWithin(value: unknown, max: number): string | undefined {
  const room = { left: max };
  const text = isPlainJson(value, 0, room) ? JSON.stringify(value) : undefined;
  if (room.left < 0) return undefined;
  if (text !== undefined && !text.includes('\\ud')) return text;
  canonicalJson(value);
  return text ?? JSON.stringify(value);
}

/**
 * Returns true if a value is surely JSON, and false if it takes a closer look or more room than there is. Counts at most
 * the characters that the text has.
 */
function isPlainJson(value: unknown, depth: number, room: { left: number }): boolean {
  room.left -= typeof value === 'string' ? value.length + 2 : 1;
  if (room.left < 0) return false;
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return isExact(value);
  if (typeof value !== 'object' || depth > limits.jsonDepthMax) return false;
  if (Array.isArray(value))
    return value.every((item) => isPlainJson(item, depth + 1, room)) && !value.includes(undefined);
  if (!isPlain(value)) return false;
  for (const key in value) {
    const held = value[key];
    if (held === undefined) continue;
    room.left -= key.length + 3;
    if (!isPlainJson(held, depth + 1, room)) return false;
  }
  return true;
}

const needsSlowPath: unique symbol = Symbol('needs slow path');

/** Returns a copy with its keys in order, so that one native JSON.stringify does the rest. */
function sorted(value: unknown, depth: number): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  // JSON has no -0.
  if (typeof value === 'number') return isExact(value) ? value + 0 : needsSlowPath;
  if (typeof value !== 'object') return needsSlowPath;
  if (depth > limits.jsonDepthMax) return needsSlowPath;
  if (Array.isArray(value)) return sortedArray(value, depth);
  if (!isPlain(value)) return needsSlowPath;
  const copy: Record<string, unknown> = {};
  for (const key of sortedKeys(value)) {
    // A new object would put index-like keys first and take `__proto__` for its prototype.
    if (isIndexLike(key) || key === '__proto__') return needsSlowPath;
    const held = value[key];
    if (held === undefined) continue;
    const item = sorted(held, depth + 1);
    if (item === needsSlowPath) return needsSlowPath;
    copy[key] = item;
  }
  return copy;
}

function sortedArray(value: readonly unknown[], depth: number): unknown {
  const copy: unknown[] = new Array(value.length);
  for (let index = 0; index < value.length; index++) {
    const item = sorted(value[index], depth + 1);
    if (item === needsSlowPath) return needsSlowPath;
    copy[index] = item;
  }
  return copy;
}

function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  return keys.length > fewKeys ? keys.sort() : sortFew(keys);
}

/** Up to this many keys, an insertion sort is quicker than the native sort. */
const fewKeys = 16;

function sortFew(keys: string[]): string[] {
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index] ?? '';
    let place = index;
    for (; place > 0 && (keys[place - 1] ?? '') > key; place--) keys[place] = keys[place - 1] ?? '';
    keys[place] = key;
  }
  return keys;
}

function isIndexLike(key: string): boolean {
  const code = key.charCodeAt(0);
  return code >= 48 && code <= 57 && String(Number(key)) === key;
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: object | null = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Writes the text key by key: for the rare keys a new object cannot have, and to name the fault of a value. */
function slowText(value: unknown, path = '', ancestors: readonly object[] = []): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return isExact(value) ? JSON.stringify(value) : refuse(value, path);
  if (typeof value !== 'object') return refuse(value, path);
  if (ancestors.includes(value)) {
    throw new RepriseError('json.cyclic', `Cannot store the value${at(path)}: it contains itself`, {
      details: { path },
    });
  }
  if (ancestors.length > limits.jsonDepthMax) throw tooDeep();
  const inside = [...ancestors, value];
  if (Array.isArray(value))
    return `[${Array.from(value, (item, index) => slowText(item, `${path}[${index}]`, inside)).join(',')}]`;
  if (!isPlain(value)) return refuse(value, path);
  const parts: string[] = [];
  for (const key of sortedKeys(value)) {
    const item = value[key];
    if (item !== undefined)
      parts.push(`${JSON.stringify(key)}:${slowText(item, path === '' ? key : `${path}.${key}`, inside)}`);
  }
  return `{${parts.join(',')}}`;
}

function tooDeep(): RepriseError {
  return new RepriseError(
    'json.too-deep',
    `Cannot store the value: it is nested more than ${limits.jsonDepthMax} deep`,
    {
      hint: 'Flatten it, or keep it as a string.',
      details: { max: limits.jsonDepthMax },
    },
  );
}

/** Returns whether a number survives JSON text: an integer that is written out in digits must be exact. */
function isExact(value: number): boolean {
  if (!Number.isFinite(value)) return false;
  return !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21;
}

const at = (path: string): string => (path === '' ? '' : ` at "${path}"`);

function refuse(value: unknown, path: string): never {
  if (typeof value === 'number' && Number.isFinite(value)) {
    throw new RepriseError(
      'json.unsafe-number',
      `Cannot store the number ${value}${at(path)}: integers beyond 2^53 are not exact`,
      {
        hint: 'Keep it as a string.',
        details: { path },
      },
    );
  }
  const kind =
    typeof value === 'object' && value !== null
      ? `an instance of ${className(value)}`
      : typeof value === 'number' || value === undefined
        ? String(value)
        : `a ${typeof value}`;
  throw new RepriseError('json.not-json', `Cannot store the value${at(path)}: ${kind} is not JSON`, {
    hint: 'Convert it to plain JSON first (null, booleans, finite numbers, strings, arrays, plain objects).',
    details: { path },
  });
}

function className(value: object): string {
  const { constructor } = value;
  return typeof constructor === 'function' ? constructor.name : 'an unknown class';
}

function checkWellFormed(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return;
    throw new RepriseError(
      'json.lone-surrogate',
      `Cannot store the string${at(path)}: it has half of a surrogate pair`,
      {
        hint: 'Use toWellFormed() where replacing the broken character is acceptable.',
        details: { path },
      },
    );
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    checkWellFormed(key, path);
    checkWellFormed(item, path === '' ? key : `${path}.${key}`);
  }
}

/**
 * Parses JSON text from outside. It refuses numbers that a JavaScript number cannot carry exactly instead of rounding
 * them, limits the depth, and keeps `__proto__` as an ordinary key.
 */
export function parseJson(text: string): JsonValue {
  checkBytes('payloadBytesMax', [text], 'parse JSON text');
  let value: JsonValue;
  try {
    value = JSON.parse(text, (_key, item: unknown, context?: { source?: string }) => {
      if (typeof item === 'number' && context?.source !== undefined && !sameDecimal(context.source, item)) {
        throw new RepriseError(
          'json.unsafe-number',
          `Cannot parse the number ${context.source}: it would become ${item}`,
          {
            hint: 'Write it as a string.',
          },
        );
      }
      return item;
    }) as JsonValue;
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    // The text is nested so deeply that the parser itself gives up.
    if (error instanceof RangeError) throw tooDeep();
    throw new RepriseError('json.not-json', `Cannot parse JSON text: ${messageOf(error)}`, { cause: error });
  }
  if (depthOf(value, 0) > limits.jsonDepthMax) slowText(value);
  return value;
}

function depthOf(value: JsonValue, depth: number): number {
  if (typeof value !== 'object' || value === null || depth > limits.jsonDepthMax) return depth;
  let deepest = depth;
  for (const item of isArray(value) ? value : Object.values(value))
    deepest = Math.max(deepest, depthOf(item, depth + 1));
  return deepest;
}

/** Returns whether a number in JSON text and the number JavaScript read have the same decimal value. */
function sameDecimal(source: string, value: number): boolean {
  return decimalOf(source) === decimalOf(JSON.stringify(value));
}

/** Returns digits and exponent without leading and trailing zeros: `1.50e3` and `1500` become the same. */
function decimalOf(token: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token);
  if (match === null) return token;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const trimmed = withoutLastZeros(digits);
  if (trimmed === '') return '0';
  return `${sign}${trimmed}e${Number(exponent) - fraction.length + (digits.length - trimmed.length)}`;
}

/** Cuts zeros off the end. It is a loop because `/0+$/` tries again at every zero of a long number. */
function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/** Returns whether two JSON values are equal. */
export function sameJson(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined) return false;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  return canonicalJson(left) === canonicalJson(right);
}

/**
 * Returns a deep copy of an object that canonical JSON carries, as its text would be parsed: without properties that are
 * `undefined`, with 0 for -0, and with `__proto__` as an ordinary key.
 */
export function copyJson(value: JsonInput): JsonObject {
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) {
    const held = value[key];
    if (held !== undefined) setKey(copy, key, copyValue(held));
  }
  return copy;
}

/** Returns a deep copy of any value that canonical JSON carries, as {@link copyJson} does. */
export function copyValue(value: JsonInputValue): JsonValue {
  if (value === 0) return 0;
  if (typeof value !== 'object' || value === null) return value;
  return isInputArray(value) ? value.map(copyValue) : copyJson(value);
}

function isInputArray(value: JsonInputValue): value is readonly JsonInputValue[] {
  return Array.isArray(value);
}
