import { isArray, isObject, type JsonValue } from '../../core/json.ts';
import { oneLine } from '../../core/title.ts';

/** How many times a text may be inside a JSON string that is inside a JSON string. */
const nestingMax = 3;

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Returns a stored text as it is, and as it reads with its JSON escapes taken off once, twice and so on. A text inside
 * JSON inside JSON stands in one of them as it was, whichever escapes its writer chose (`\n`, `\u00fc`, `\/`).
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

/** Returns a string that holds JSON as its value; undefined if it holds none. */
export function innerJson(text: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Yields every title in a value: a title is one line, and may be the beginning of a text. */
export function* titlesIn(value: JsonValue): Generator<string> {
  if (isArray(value)) for (const item of value) yield* titlesIn(item);
  else if (isObject(value))
    for (const [key, item] of Object.entries(value)) {
      if (key === 'title' && typeof item === 'string') yield item;
      else yield* titlesIn(item);
    }
}

/** Tells whether a title quotes a text: all of it, or its beginning of at least `min` characters. */
export function titleQuotes(title: string, text: string, min: number): boolean {
  const line = oneLine(title);
  const cut = line.replace(/\s*(?:…|\.\.\.)$/, '');
  const said = oneLine(text);
  return line.includes(said) || (cut.length >= min && said.startsWith(cut));
}
