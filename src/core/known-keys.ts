import { RepriseError } from './error.ts';
import { given } from './json.ts';
import { nearest } from './nearest.ts';

/** The keys that something given by a caller may have, and how to refuse others. */
export interface KnownKeys {
  readonly keys: ReadonlySet<string>;
  readonly code: 'edit.invalid' | 'event.invalid' | 'option.invalid' | 'projection.invalid';
  /** What was attempted, as in "append an event". */
  readonly attempt: string;
  /** What has the keys, as in "an event to append". */
  readonly whole: string;
  /** What to do about a key that is not misspelt but belongs elsewhere, by key. */
  readonly hints?: Readonly<Record<string, string>>;
}

/** The options a verb takes. They are given as a record, so that one that is added and forgotten here does not compile. */
export function optionKeys<Options>(
  verb: string,
  names: Readonly<Record<keyof Required<Options>, true>>,
  whole = `a ${verb}`,
): KnownKeys {
  return { keys: new Set(Object.keys(names)), code: 'option.invalid', attempt: verb, whole };
}

/**
 * Refuses a key that nothing would read: what a caller misspelt would be left out of the answer without a word. Keys
 * whose value is `undefined` are as good as not there.
 */
export function checkKeys(given: object, known: KnownKeys): void {
  for (const key in given) {
    if (!known.keys.has(key) && (given as Record<string, unknown>)[key] !== undefined) refuse(key, known);
  }
}

function refuse(key: string, { keys, code, attempt, whole, hints = {} }: KnownKeys): never {
  const near = Object.hasOwn(hints, key) ? undefined : nearest(key, [...keys]);
  const meant = Object.hasOwn(hints, key) ? hints[key] : near === undefined ? '' : `Did you mean "${near}"?`;
  throw new RepriseError(code, `Cannot ${attempt}: ${whole} has no ${JSON.stringify(key.slice(0, 80))}`, {
    hint: `${meant} It may have ${[...keys].join(', ')}.`.trimStart(),
    details: { key: key.slice(0, 80), ...given({ nearest: near }) },
  });
}
