import { limits } from '../limits.ts';
import type { SecretSearch } from './secret-span.ts';
import { charTable, isAt, matchAt } from './text-scan.ts';

/** A string in JSON text: where its characters are, without the quotes. */
export interface JsonString {
  readonly start: number;
  readonly end: number;
  /** Whether the text ends before the string does. */
  readonly isCut: boolean;
}

/** A stretch of text that is JSON. */
export interface JsonStretch {
  readonly start: number;
  readonly end: number;
}

/** Receives what JSON text contains. A context is what the visitor knows of the place of a value. */
export interface JsonVisitor<Context> {
  /** Returns the context of the value behind a key. */
  readonly key: (key: JsonString, context: Context) => Context;
  /** Hears a string that is a value. */
  readonly string: (value: JsonString, context: Context) => void;
  /** Hears a number. */
  readonly number: (start: number, end: number, context: Context) => void;
  /** Returns the context of what is inside an object. */
  readonly object: (context: Context) => Context;
}

/** Finds where JSON text may begin inside a string. Every repeat is bounded. */
const jsonStart = /\{(?=\s{0,64}")|\[(?=\s{0,64}["{[\d-])/g;
const wholeString = /^\s{0,64}"/;

/**
 * Walks through all JSON text inside a string: all of it, lines of it, an answer with JSON in it. JSON that is
 * cut off counts as far as it goes. Every character is looked at once. Returns the stretches that were JSON.
 */
export function walkJsonIn<Context>(
  search: SecretSearch,
  visitor: JsonVisitor<Context>,
  context: Context,
): readonly JsonStretch[] {
  const { text } = search;
  const stretches: JsonStretch[] = [];
  const quoted = wholeString.exec(text);
  if (quoted !== null) {
    const string = stringAt(search, quoted[0].length);
    if (string.isCut || text.slice(string.end + 1).trim() === '') {
      visitor.string(string, context);
      return [{ start: 0, end: text.length }];
    }
  }
  jsonStart.lastIndex = 0;
  for (let match = jsonStart.exec(text); match !== null; match = jsonStart.exec(text)) {
    const end = new JsonWalk(search, visitor).from(match.index, context);
    stretches.push({ start: match.index, end });
    jsonStart.lastIndex = Math.max(end, match.index + 1);
  }
  search.effort += text.length;
  return stretches;
}

interface Frame<Context> {
  readonly isArray: boolean;
  readonly inside: Context;
}

const spaces = charTable(/[ \t\r\n]/);
const numberForm = /-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,9})?/y;
const wordForm = /true|false|null/y;

/** One walk through JSON text, from an opening bracket on. */
class JsonWalk<Context> {
  readonly #search: SecretSearch;
  readonly #visitor: JsonVisitor<Context>;
  readonly #frames: Frame<Context>[] = [];
  #at = 0;

  constructor(search: SecretSearch, visitor: JsonVisitor<Context>) {
    this.#search = search;
    this.#visitor = visitor;
  }

  /** Walks as far as the text is JSON, and returns where it stops. */
  from(start: number, context: Context): number {
    this.#at = start;
    let goesOn = this.#value(context);
    while (goesOn && this.#frames.length > 0) goesOn = this.#next();
    return this.#at;
  }

  /** Takes the next item of the innermost bracket, or its end. */
  #next(): boolean {
    const frame = this.#frames.at(-1) as Frame<Context>;
    this.#skipSpaces();
    const { text } = this.#search;
    if (text[this.#at] === ',') {
      this.#at++;
      this.#skipSpaces();
    }
    if (text[this.#at] === (frame.isArray ? ']' : '}')) {
      this.#at++;
      this.#frames.pop();
      return true;
    }
    return frame.isArray ? this.#value(frame.inside) : this.#member(frame.inside);
  }

  #member(inside: Context): boolean {
    const { text } = this.#search;
    if (text[this.#at] !== '"') return false;
    const key = stringAt(this.#search, this.#at + 1);
    const context = this.#visitor.key(key, inside);
    this.#at = Math.min(text.length, key.end + 1);
    this.#skipSpaces();
    if (text[this.#at] !== ':') return false;
    this.#at++;
    this.#skipSpaces();
    return this.#value(context);
  }

  #value(context: Context): boolean {
    const { text } = this.#search;
    switch (text[this.#at]) {
      case '"': {
        const string = stringAt(this.#search, this.#at + 1);
        this.#at = Math.min(text.length, string.end + 1);
        this.#visitor.string(string, context);
        return !string.isCut;
      }
      case '{':
      case '[': {
        if (this.#frames.length >= limits.jsonDepthMax) return false;
        const isArray = text[this.#at] === '[';
        this.#at++;
        this.#frames.push({ isArray, inside: isArray ? context : this.#visitor.object(context) });
        return true;
      }
      default:
        return this.#scalar(context);
    }
  }

  #scalar(context: Context): boolean {
    const number = matchAt(this.#search, numberForm, this.#at);
    if (number !== null) {
      const start = this.#at;
      this.#at += number[0].length;
      this.#visitor.number(start, this.#at, context);
      return true;
    }
    const word = matchAt(this.#search, wordForm, this.#at);
    this.#at += word?.[0].length ?? 0;
    return word !== null;
  }

  #skipSpaces(): void {
    while (isAt(this.#search.text, this.#at, spaces)) this.#at++;
  }
}

/** Returns the string whose first character is at a place. */
function stringAt(search: SecretSearch, start: number): JsonString {
  const { text } = search;
  for (let at = text.indexOf('"', start); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (first > start && text[first - 1] === '\\') first--;
    if ((at - first) % 2 === 0) {
      search.effort += at - start;
      return { start, end: at, isCut: false };
    }
  }
  search.effort += text.length - start;
  return { start, end: text.length, isCut: true };
}

/** Returns the characters that a JSON string encodes, without its quotes; everything but escapes stays as it is. */
export function decodedString(raw: string): string {
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw.replace(escape, (escaped) => charOf(escaped));
  }
}

const escape = /\\(?:u[0-9a-fA-F]{4}|[^u])/gs;
const escapeHere = new RegExp(escape.source, 'sy');
const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

function charOf(escaped: string): string {
  const [, sign = ''] = escaped;
  if (sign === 'u') return String.fromCharCode(Number.parseInt(escaped.slice(2), 16));
  return controls[sign] ?? sign;
}

/** Maps places among the decoded characters of a string to places in its raw text. The places ascend. */
export function rawPlaces(raw: string, places: readonly number[]): number[] {
  const found: number[] = [];
  let decoded = 0;
  let at = 0;
  for (const place of places) {
    while (decoded < place && at < raw.length) {
      escapeHere.lastIndex = at;
      const [escaped = ' '] = (raw[at] === '\\' ? escapeHere.exec(raw) : null) ?? [];
      at += escaped.length;
      decoded++;
    }
    found.push(at);
  }
  return found;
}
