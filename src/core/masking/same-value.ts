import { isArray, isObject, type JsonObject, type JsonValue } from '../json.ts';
import { decodedString } from './json-text.ts';
import { type Mask, type MaskKey, masksIn } from './mask.ts';

/** Whether two values are the same, or whether that is unknown: a secret in one of them was masked with a different key. */
export type Sameness = 'same' | 'different' | 'unknown';

/**
 * Compares a stored value, which may contain masks, with a value that has the secrets themselves. A mask matches any
 * text with its hash, whichever rule found it. A mask of a different key may match any text.
 */
export function compareMasked(stored: JsonValue | undefined, fresh: JsonValue | undefined, key?: MaskKey): Sameness {
  if (stored === undefined || fresh === undefined || stored === null || fresh === null)
    return stored === fresh ? 'same' : 'different';
  if (typeof stored === 'string') {
    const text = typeof fresh === 'number' ? `${fresh}` : fresh;
    return typeof text === 'string' ? compareTexts(stored, text, key) : 'different';
  }
  if (isArray(stored)) return isArray(fresh) ? compareLists(stored, fresh, key) : 'different';
  if (isObject(stored)) return isObject(fresh) ? compareObjects(stored, fresh, key) : 'different';
  return stored === fresh ? 'same' : 'different';
}

function compareLists(stored: readonly JsonValue[], fresh: readonly JsonValue[], key: MaskKey | undefined): Sameness {
  if (stored.length !== fresh.length) return 'different';
  return both(stored.map((item, index) => () => compareMasked(item, fresh[index], key)));
}

/** Fields whose names contain a mask count as the same if as many others are left. */
function compareObjects(stored: JsonObject, fresh: JsonObject, key: MaskKey | undefined): Sameness {
  const names = Object.keys(stored);
  if (names.length !== Object.keys(fresh).length) return 'different';
  const plain = names.filter((name) => Object.hasOwn(fresh, name));
  const others = names.filter((name) => !Object.hasOwn(fresh, name));
  if (others.some((name) => masksIn(name).length === 0)) return 'different';
  const values = plain.map((name) => () => compareMasked(stored[name], fresh[name], key));
  return both([...values, () => (others.length === 0 ? 'same' : 'unknown')]);
}

function both(comparisons: readonly (() => Sameness)[]): Sameness {
  let result: Sameness = 'same';
  for (const compare of comparisons) {
    const found = compare();
    if (found === 'different') return found;
    if (found === 'unknown') result = found;
  }
  return result;
}

/** How many places of the text behind a mask are tried; beyond that, the answer is unknown. */
const triesMax = 64;

interface MaskToken extends Mask {
  /** The mask itself. */
  readonly text: string;
  /** The quotes around it, which a number did not have. */
  readonly quote: string;
  /** The text from it to the next mask. */
  readonly rest: string;
}

function compareTexts(stored: string, fresh: string, key: MaskKey | undefined): Sameness {
  if (stored === fresh) return 'same';
  const masks = masksIn(stored);
  if (masks.length === 0) return 'different';
  const { head, tokens } = tokensOf(stored, masks);
  if (!fresh.startsWith(head)) return 'different';
  let at = head.length;
  let result: Sameness = 'same';
  for (const [index, token] of tokens.entries()) {
    const found = placeOf(fresh, at, token, { isLast: index === tokens.length - 1, key });
    if (found.sameness === 'different') return 'different';
    if (found.sameness === 'unknown') result = 'unknown';
    at = found.end;
  }
  return at === fresh.length ? result : result === 'unknown' ? 'unknown' : 'different';
}

/** Cuts a string at its masks. Quotes on both sides of a mask belong to it. */
function tokensOf(
  stored: string,
  masks: readonly Mask[],
): { readonly head: string; readonly tokens: readonly MaskToken[] } {
  const quotes: string[] = [];
  let taken = 0;
  for (const { start, end } of masks) {
    // A quote between two masks belongs to the first of them.
    const [found = ''] = /\\{0,7}"$/.exec(stored.slice(Math.max(taken, start - 8), start)) ?? [];
    const quote = stored.startsWith(found, end) ? found : '';
    quotes.push(quote);
    taken = end + quote.length;
  }
  const startOf = (index: number): number => (masks[index]?.start ?? stored.length) - (quotes[index]?.length ?? 0);
  const tokens = masks.map((mask, index): MaskToken => {
    const quote = quotes[index] ?? '';
    const rest = stored.slice(mask.end + quote.length, startOf(index + 1));
    return { ...mask, text: stored.slice(mask.start, mask.end), quote, rest };
  });
  return { head: stored.slice(0, startOf(0)), tokens };
}

interface Matching {
  readonly isLast: boolean;
  readonly key: MaskKey | undefined;
}

/** Finds the text behind a mask: from a place to the text that follows the mask. */
function placeOf(
  fresh: string,
  from: number,
  token: MaskToken,
  { isLast, key }: Matching,
): { readonly sameness: Sameness; readonly end: number } {
  const { rest } = token;
  let at = isLast ? fresh.length - rest.length : fresh.indexOf(rest, from + 1);
  for (let tries = 1; at > from && fresh.startsWith(rest, at); tries++) {
    const sameness = tries > triesMax ? 'unknown' : standsFor(token, fresh.slice(from, at), key);
    if (sameness !== 'different') return { sameness, end: at + rest.length };
    if (isLast) break;
    at = fresh.indexOf(rest, at + 1);
  }
  return { sameness: 'different', end: from };
}

function standsFor({ text, quote, key: id, hash }: MaskToken, given: string, key: MaskKey | undefined): Sameness {
  const isQuoted = given.length > quote.length * 2 && given.startsWith(quote) && given.endsWith(quote);
  const secret = isQuoted ? given.slice(quote.length, given.length - quote.length) : given;
  if (!isQuoted && !/^-?[\d.eE+-]+$/.test(given)) return 'different';
  if (secret === text) return 'same';
  if (key === undefined || id !== key.id) return 'unknown';
  return formsOf(secret).some((form) => key.hashOf(form) === hash) ? 'same' : 'different';
}

/** A secret as it is in the text, and without the escapes of JSON text and of addresses. */
function formsOf(text: string): readonly string[] {
  const once = decodedString(text);
  return [...new Set([text, text.trim(), once, decodedString(once), decodedAddress(text)])];
}

function decodedAddress(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
