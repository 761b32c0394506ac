import { canonicalJson, parseJson } from '../../core/canonical-json.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { kindName } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import { nearest } from '../../core/nearest.ts';
import { utf8Length } from '../../core/utf8.ts';
import type { ArgumentKind, Arguments, PlaceKind, VerbEntry } from './verb-entry.ts';

/** The arguments that say where a verb of each kind acts. */
const placeTakes: Readonly<Record<PlaceKind, Arguments>> = {
  store: {},
  session: { session: 'text' },
  look: { ref: 'text' },
  branch: { ref: 'text' },
  point: { ref: 'text' },
};

/** Returns whether a verb changes anything. */
export function isWriting({ rights }: VerbEntry): boolean {
  return rights.some((right) => right !== 'read');
}

/** Returns every argument of a verb, in the order in which people read them. */
export function argumentsOf(entry: VerbEntry): Arguments {
  const { at, takes = {} } = entry;
  const common: Arguments = { namespace: 'text?', ...(isWriting(entry) ? { requestId: 'text?' } : {}) };
  return { ...placeTakes[at], ...takes, ...common };
}

/** The arguments that name something. An empty text names nothing, and must not mean a default. */
const naming: ReadonlySet<string> = new Set(['namespace', 'session', 'ref', 'branch', 'agent', 'requestId']);

function emptyHint(name: string): string {
  if (name === 'ref') return 'Write session[/branch][@at], for example "demo/careful@12".';
  return name === 'requestId' ? 'Use one id for every attempt of one change.' : 'Name it, or leave it out.';
}

const isKind: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  text: (value) => typeof value === 'string',
  flag: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  list: Array.isArray,
  object: isObject,
  any: () => true,
};

/** Reads the arguments of a verb from JSON text, and refuses those that it does not take. Of equal keys the last counts. */
export function readArguments(verb: string, entry: VerbEntry, text: string): JsonObject {
  const input = objectIn(verb, text);
  const known = argumentsOf(entry);
  const names = Object.keys(known);
  const other = Object.keys(input).find((name) => !Object.hasOwn(known, name));
  if (other !== undefined) throw unknownArgument(verb, other, names);
  for (const name of names) {
    const [kind, isOptional] = kindOf(known[name] ?? 'any');
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (value === undefined) {
      if (!isOptional) throw refused(verb, name, 'is missing', `Give ${names.join(', ')}.`);
    } else if (isKind[kind]?.(value) !== true)
      throw refused(verb, name, `is ${kindName(value)}`, `Write it as ${kind === 'any' ? 'JSON' : `a ${kind}`}.`);
    else if (value === '' && naming.has(name)) throw refused(verb, name, 'is empty', emptyHint(name));
  }
  return input;
}

/** Returns the kind of an argument, and whether it may be left out. */
export function kindOf(kind: ArgumentKind): readonly [kind: string, isOptional: boolean] {
  return kind.endsWith('?') ? [kind.slice(0, -1), true] : [kind, false];
}

function objectIn(verb: string, text: string): JsonObject {
  if (utf8Length(text) > limits.verbArgumentsBytesMax) throw argumentsTooLong(verb);
  const value = text === '' ? {} : parsed(verb, text);
  if (!isObject(value)) throw refused(verb, '', `are ${kindName(value)}`, 'Write them as one object.');
  // An escape is the only way in which half a pair gets through: the bytes around it are UTF-8.
  if (halfPair.test(text)) canonicalJson(value);
  return value;
}

const halfPair = /\\u[dD][89a-fA-F]/;

/** Returns the error for arguments that are too long to be read. */
export function argumentsTooLong(verb: string): RepriseError {
  const max = limits.verbArgumentsBytesMax;
  return new RepriseError('limit.exceeded', `Cannot run ${verb}: its arguments have more than ${max} bytes`, {
    hint: 'Send them in several calls, or by AppendEvents or CommitState.',
    details: { limit: 'verbArgumentsBytesMax', max },
  });
}

function parsed(verb: string, text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    if (!hasCode(error, 'json.not-json')) throw error;
    throw refused(verb, '', 'are not JSON', 'Write one JSON object.');
  }
}

function unknownArgument(verb: string, name: string, names: readonly string[]): RepriseError {
  const near = nearest(name, names);
  const meant = near === undefined ? '' : `Did you mean "${near}"? `;
  return refused(verb, name.slice(0, 200), 'is not an argument of it', `${meant}It takes ${names.join(', ')}.`);
}

/** Returns the error for an argument that a verb cannot take; an empty path is all of them. */
export function refused(verb: string, path: string, why: string, hint: string): RepriseError {
  const what = path === '' ? 'its arguments' : JSON.stringify(path);
  return new RepriseError('option.invalid', `Cannot run ${verb}: ${what} ${why}`, { hint, details: { path } });
}
