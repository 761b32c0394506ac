/** Any value that JSON can carry. */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;

/** A JSON array. */
export type JsonArray = readonly JsonValue[];

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** A JSON object as a writer passes it: properties that are `undefined` are dropped, as in JSON text. */
export interface JsonInput {
  readonly [key: string]: JsonInputValue | undefined;
}

/** Any value a writer may pass. */
export type JsonInputValue = null | boolean | number | string | readonly JsonInputValue[] | JsonInput;

/** Returns true if a JSON value is an object (not null, not an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true if a JSON value is an array; unlike `Array.isArray` it keeps the type of the items. */
export function isArray(value: JsonValue | undefined): value is JsonArray {
  return Array.isArray(value);
}

/** Makes the fields that may be undefined optional. */
type Given<Fields> = {
  [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key];
} & {
  [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<Fields[Key], undefined>;
};

/** Returns a copy without the fields that are undefined: `{ ...given({ agent, run }) }`. */
export function given<Fields extends object>(fields: Fields): Given<Fields> {
  const kept: Record<string, unknown> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept as Given<Fields>;
}

/** Returns the string under a key, or undefined if the key has something else or is missing. */
export function stringAt(data: JsonValue | undefined, key: string): string | undefined {
  const value = held(data, key);
  return typeof value === 'string' ? value : undefined;
}

/** Returns the number under a key, or undefined if the key has something else or is missing. */
export function numberAt(data: JsonValue | undefined, key: string): number | undefined {
  const value = held(data, key);
  return typeof value === 'number' ? value : undefined;
}

/** Returns the boolean under a key, or undefined if the key has something else or is missing. */
export function booleanAt(data: JsonValue | undefined, key: string): boolean | undefined {
  const value = held(data, key);
  return typeof value === 'boolean' ? value : undefined;
}

/** Returns the object under a key, or undefined if the key has something else or is missing. */
export function objectAt(data: JsonValue | undefined, key: string): JsonObject | undefined {
  const value = held(data, key);
  return isObject(value) ? value : undefined;
}

/** Returns the array under a key, or undefined if the key has something else or is missing. */
export function arrayAt(data: JsonValue | undefined, key: string): JsonArray | undefined {
  const value = held(data, key);
  return isArray(value) ? value : undefined;
}

function held(data: JsonValue | undefined, key: string): JsonValue | undefined {
  return isObject(data) && Object.hasOwn(data, key) ? data[key] : undefined;
}

/** Sets a key on an object being built; `__proto__` becomes an ordinary key instead of the prototype. */
export function setKey(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

/** Returns the value at a path of keys and indexes, or undefined if any step of the path is missing. */
export function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const name of path) {
    if (isArray(current)) current = /^\d+$/.test(name) ? current[Number(name)] : undefined;
    else if (isObject(current) && Object.hasOwn(current, name)) current = current[name];
    else return undefined;
  }
  return current;
}

/** Returns a copy of an object with a new value at a path; every step of the path must exist. */
export function withValueAt(value: JsonObject, path: readonly string[], next: JsonValue): JsonObject {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) {
    if (key !== name) setKey(copy, key, value[key]);
    else setKey(copy, key, rest.length === 0 ? next : withValueAt(objectAt(value, key) ?? {}, rest, next));
  }
  return copy;
}
