import { isArray, isObject, type JsonValue } from '../../core/json.ts';
import { stringEnd } from '../../core/json-elements.ts';
import { oneLine } from '../../core/title.ts';

/** How many levels of JSON strings inside JSON strings a text may be nested in. */
const nestingMax = 3;

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Returns a stored text as it is, and as it reads with its JSON escapes taken off once, twice and so on. A text inside
 * JSON inside JSON is in one of them as it was, whichever escapes its writer chose (`\n`, `\u00fc`, `\/`).
 */
export function* readings(stored: string): Generator<string> {
  let text = stored;
  yield text;
  for (let depth = 1; depth <= nestingMax && text.includes('\\'); depth++) {
    text = unescaped(text);
    yield text;
  }
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|([^u]))/g, (_, code: string | undefined, char: string | undefined) =>
    code === undefined ? (escapes[char ?? ''] ?? char ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Returns the list or object in a JSON string, or the JSON that begins with one of these signs; else undefined. */
export function innerJson(text: string, signs = '[{'): JsonValue | undefined {
  if (!signs.includes(text.trimStart().charAt(0) || ' ')) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Returns true if a string is a stretch of JSON text: it begins with the name of a member. */
export const isStretch = (text: string): boolean => text.startsWith('"') && isName(text, stringEnd(text, 0));

/** Yields the values among the strings of a piece of JSON text, each with the name of its member. No string is cut. */
export function* valuesInPiece(piece: string): Generator<{ readonly name: string; readonly value: string }> {
  let name = '';
  for (let at = 0; at < piece.length; at++) {
    const sign = piece[at];
    if (sign === '}' || sign === ']') name = '';
    if (sign !== '"') continue;
    const end = stringEnd(piece, at);
    const value = innerJson(piece.slice(at, end), '"');
    if (typeof value === 'string' && isName(piece, end)) name = value;
    else if (typeof value === 'string') yield { name, value };
    at = end - 1;
  }
}

/** Returns true if the string of JSON text that ends here is a name. */
const isName = (text: string, end: number): boolean => /^\s*:/.test(text.slice(end, end + 16));

/** Yields every title in a value: a title is one line, and may be the beginning of a text. */
export function* titlesIn(value: JsonValue): Generator<string> {
  if (isArray(value)) for (const item of value) yield* titlesIn(item);
  else if (isObject(value))
    for (const [key, item] of Object.entries(value)) {
      if (key === 'title' && typeof item === 'string') yield item;
      else yield* titlesIn(item);
    }
}

/** Returns true if a title quotes a text: all of it, or its beginning of at least `min` characters. */
export function titleQuotes(title: string, text: string, min: number): boolean {
  const line = oneLine(title);
  const cut = line.replace(/\s*(?:…|\.\.\.)$/, '');
  const said = oneLine(text);
  return line.includes(said) || (cut.length >= min && said.startsWith(cut));
}
