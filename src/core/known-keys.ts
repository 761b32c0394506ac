import { RepriseError } from './error.ts';
import { given, isObject } from './json.ts';
import { nearest } from './nearest.ts';
import { propertyOf } from './property.ts';

/** The kind of value that an option takes; `point` is a ref or an object that names a point. */
export type OptionKind = 'text' | 'flag' | 'number' | 'list' | 'object' | 'function' | 'point' | 'signal';

/** The keys that a caller's object may have, and how to refuse others. */
export interface KnownKeys {
  readonly keys: ReadonlySet<string>;
  /** The kinds of their values; a key without one is checked where its value is read. */
  readonly kinds?: ReadonlyMap<string, OptionKind>;
  readonly code: 'edit.invalid' | 'event.invalid' | 'option.invalid' | 'projection.invalid';
  /** The action, as in "append an event". */
  readonly attempt: string;
  /** The object with the keys, as in "an event to append". */
  readonly whole: string;
  /** Hints for keys that are not misspelled but belong elsewhere, by key. */
  readonly hints?: Readonly<Record<string, string>>;
}

/**
 * Returns the options a verb takes, each with the kind of its value, or `true` where its value is checked when it is
 * read. The record makes an option that is forgotten here a compile error.
 */
export function optionKeys<Options>(
  verb: string,
  names: Readonly<Record<keyof Required<Options>, true | OptionKind>>,
  whole = `a ${verb}`,
): KnownKeys {
  const kinds = Object.entries<true | OptionKind>(names).filter(
    (entry): entry is [string, OptionKind] => entry[1] !== true,
  );
  return { keys: new Set(Object.keys(names)), kinds: new Map(kinds), code: 'option.invalid', attempt: verb, whole };
}

const isKind: Readonly<Record<OptionKind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number' && !Number.isNaN(value),
  list: Array.isArray,
  object: isObject,
  function: (value) => typeof value === 'function',
  point: (value) => typeof value === 'string' || isObject(value),
  signal: (value) => typeof propertyOf(value, 'addEventListener') === 'function',
};

const kindTexts: Readonly<Record<OptionKind, string>> = {
  text: 'a string',
  flag: 'a boolean',
  number: 'a number',
  list: 'a list',
  object: 'an object',
  function: 'a function',
  point: 'a ref or an object that names a point',
  signal: 'a signal',
};

/** Throws `option.invalid` unless a value that a verb calls is a function. */
export function checkFunction(value: unknown, attempt: string): void {
  if (typeof value === 'function') return;
  throw new RepriseError('option.invalid', `Cannot ${attempt}: ${kindName(value)} is given, and a function is needed`, {
    hint: 'Pass a function that does the work.',
  });
}

/** Returns any value for a message: a string or number as it is, anything else by its kind. Never throws. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindName(value);
}

/** Returns the kind of a value in words, for messages: never its content, which may not be printable. */
export function kindName(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (Number.isNaN(value)) return 'NaN';
  const kind = typeof value;
  return kind === 'object' ? 'an object' : kind === 'string' ? 'a string' : `a ${kind}`;
}

/**
 * Refuses options that are not an object, an unknown key and a value of the wrong kind: a misspelled option would otherwise be
 * ignored silently. A key whose value is `undefined` counts as missing.
 */
export function checkKeys<Options extends object>(options: Options, known: KnownKeys): void {
  checkWhole(options, known);
  for (const key in options) {
    if (options[key] === undefined) continue;
    if (!known.keys.has(key)) refuse(key, known);
    const kind = known.kinds?.get(key);
    if (kind !== undefined && !isKind[kind](options[key])) refuseKind(key, options[key], kind, known);
  }
}

/** Refuses arguments of a verb that takes none, or none more: a point there would otherwise be ignored silently. */
export function checkNoMore(given: readonly unknown[], attempt: string): void {
  if (given.every((value) => value === undefined)) return;
  throw new RepriseError('option.invalid', `Cannot ${attempt}: ${shownValue(given[0])} is one argument too many`, {
    hint: 'Leave it out. A point or a branch is said first: session.at(point), session.branch(name).',
  });
}

/** Refuses what is not an object at all. */
export function checkWhole(given: unknown, { keys, code, attempt, whole }: KnownKeys): void {
  if (isObject(given)) return;
  throw new RepriseError(code, `Cannot ${attempt}: ${whole} takes an options object, not ${kindName(given)}`, {
    hint: `${typeof given === 'string' && given.includes('@') ? sayAt(given) : ''} It may have ${[...keys].join(', ')}.`.trimStart(),
  });
}

function refuseKind(key: string, value: unknown, kind: OptionKind, { code, attempt }: KnownKeys): never {
  const wanted = kindTexts[kind];
  throw new RepriseError(code, `Cannot ${attempt}: "${key}" is ${kindName(value)}, and must be ${wanted}`, {
    hint: `Write "${key}" as ${wanted}, or leave it out.`,
    details: { key },
  });
}

function refuse(key: string, { keys, code, attempt, whole, hints = {} }: KnownKeys): never {
  const near = Object.hasOwn(hints, key) ? undefined : nearest(key, [...keys]);
  const meant = hints[key] ?? (near === undefined ? whereHint(key) : `Did you mean "${near}"?`);
  throw new RepriseError(code, `Cannot ${attempt}: ${whole} has no ${JSON.stringify(key.slice(0, 80))}`, {
    hint: `${meant} It may have ${[...keys].join(', ')}.`.trimStart(),
    details: { key: key.slice(0, 80), ...given({ nearest: near }) },
  });
}

/** Returns a hint for an option that says where: a handle says it. */
function whereHint(key: string): string {
  if (key === 'at' || key === 'point') return 'Say where first: session.at(point).';
  if (['seq', 'story', 'time', 'turn'].includes(key)) return `Say where first: session.at({ ${key} }).`;
  return key === 'branch' ? 'Say where first: session.branch(name).' : '';
}

/** Returns a hint for a point in the place of options. */
const sayAt = (point: string): string => `Say where first: session.at(${shownValue(point)}).`;
