import { RepriseError } from './error.ts';
import { given } from './json.ts';
import { nearest } from './nearest.ts';

/** The keys that a caller's object may have, and how to refuse others. */
export interface KnownKeys {
  readonly keys: ReadonlySet<string>;
  readonly code: 'edit.invalid' | 'event.invalid' | 'option.invalid' | 'projection.invalid';
  /** The action, as in "append an event". */
  readonly attempt: string;
  /** The object with the keys, as in "an event to append". */
  readonly whole: string;
  /** Hints for keys that are not misspelled but belong elsewhere, by key. */
  readonly hints?: Readonly<Record<string, string>>;
}

/** Returns the options a verb takes. The record makes an option that is forgotten here a compile error. */
export function optionKeys<Options>(
  verb: string,
  names: Readonly<Record<keyof Required<Options>, true>>,
  whole = `a ${verb}`,
): KnownKeys {
  return { keys: new Set(Object.keys(names)), code: 'option.invalid', attempt: verb, whole };
}

/**
 * Refuses an unknown key: a misspelled option would otherwise be ignored silently. A key whose value is `undefined`
 * counts as missing. A caller without types may pass anything: it refuses what is not an object.
 */
export function checkKeys<Options extends object>(options: Options, known: KnownKeys): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) refuseValue(options, known);
  for (const key in options) {
    if (!known.keys.has(key) && options[key] !== undefined) refuse(key, known);
  }
}

function refuseValue(value: unknown, { keys, code, attempt, whole }: KnownKeys): never {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  throw new RepriseError(code, `Cannot ${attempt}: ${whole} is an object, not ${kind}`, {
    hint: `It may have ${[...keys].join(', ')}.`,
  });
}

function refuse(key: string, { keys, code, attempt, whole, hints = {} }: KnownKeys): never {
  const near = Object.hasOwn(hints, key) ? undefined : nearest(key, [...keys]);
  const meant = Object.hasOwn(hints, key) ? hints[key] : near === undefined ? '' : `Did you mean "${near}"?`;
  throw new RepriseError(code, `Cannot ${attempt}: ${whole} has no ${JSON.stringify(key.slice(0, 80))}`, {
    hint: `${meant} It may have ${[...keys].join(', ')}.`.trimStart(),
    details: { key: key.slice(0, 80), ...given({ nearest: near }) },
  });
}
