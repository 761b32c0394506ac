/** Any value that JSON can carry. */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;

/** A JSON array. */
export type JsonArray = readonly JsonValue[];

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** A JSON object as a writer may give it: properties that are `undefined` are left out, as JSON does. */
export interface JsonInput {
  readonly [key: string]: JsonInputValue | undefined;
}

/** Any value a writer may give. */
export type JsonInputValue = null | boolean | number | string | readonly JsonInputValue[] | JsonInput;

/** Tells whether a JSON value is an object (not null, not an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of an object that may be undefined become optional ones. */
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

/** Sets a key on an object being built; `__proto__` becomes an ordinary key instead of the prototype. */
export function setKey(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

/** The value at a dotted path, or undefined where any part of the way is missing. */
export function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const name of path) {
    if (Array.isArray(current)) current = /^\d+$/.test(name) ? (current as JsonArray)[Number(name)] : undefined;
    else if (isObject(current) && Object.hasOwn(current, name)) current = current[name];
    else return undefined;
  }
  return current;
}

/** A copy of an object with the value at a path changed; the way to it must exist. */
export function withValueAt(value: JsonObject, path: readonly string[], next: JsonValue): JsonObject {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) {
    const held = value[key] as JsonValue;
    setKey(copy, key, key !== name ? held : rest.length === 0 ? next : withValueAt(held as JsonObject, rest, next));
  }
  return copy;
}
