import { isArray, isObject, type JsonInput, type JsonObject, type JsonValue, stringAt, valueAt } from '../json.ts';
import { stringEnd } from '../json-elements.ts';
import type { Stretches } from './stretches.ts';

/**
 * A hole in kept text: a string of the unit's own events belongs there, as JSON writes it. Text that is erased or
 * masked in an event is therefore gone from its source.
 */
interface Hole {
  /** Which event of the unit has the string; the first one if left out. */
  readonly of?: number;
  /** The keys and indexes that lead to it in the event's data. */
  readonly path: readonly string[];
  /**
   * `ascii` if every character outside ASCII is written as an escape; `unnumbered` if the event has the text with a
   * number before each line, as tools show files to models.
   */
  readonly form?: 'ascii' | 'unnumbered';
}

/** The text of a unit: verbatim, or pieces of text with holes between them. A number names one of the {@link Stretches}. */
export type KeptText = string | readonly (string | number | Hole)[];

/** Returns true if a value has the form of text in pieces: strings, and at least one hole or number of a stretch. */
export const isInPieces = (value: readonly JsonValue[]): boolean =>
  value.some((piece) => typeof piece === 'string') &&
  value.some((piece) => typeof piece !== 'string') &&
  value.every((piece) => typeof piece === 'string' || typeof piece === 'number' || isArray(valueAt(piece, ['path'])));

// A hole takes about 40 bytes to write down, so shorter strings stay in the text.
const holeUnitsMin = 64;

/** Traits of a unit's text that decide how it is kept. */
export interface KeepOptions {
  /** Whether it contains `\\u`; found out if left out. */
  readonly hasEscapes?: boolean | undefined;
  /** The stretches of its source; only JSON text has any. */
  readonly repeated?: RepeatedPieces | undefined;
}

/** Returns the text of a unit with holes where its events have a long string. Filling them gives back the same text. */
export function keepText(
  text: string,
  events: readonly (JsonInput | undefined)[],
  { hasEscapes = text.includes('\\u'), repeated }: KeepOptions = {},
): KeptText {
  const tokens = new Tokens(hasEscapes);
  for (const [of, data] of events.entries())
    if (data !== undefined) tokens.collect(data as JsonObject, of === 0 ? {} : { of }, []);
  return tokens.isEmpty ? text : cut(text, tokens, repeated);
}

/** A stretch, and its place among those of its source. */
interface PlacedStretch {
  readonly text: string;
  readonly at: number;
}

/** The stretches of a source, to be found in text by the name that they begin with. */
export class RepeatedPieces {
  /** The stretches by two of their first characters, the longest first: the longest that fits is taken. */
  readonly #byBegin: (readonly PlacedStretch[] | undefined)[] = [];
  readonly #holes = new Map<string, number>();

  constructor(stretches: Stretches) {
    for (const [at, piece] of stretches.entries()) {
      if (typeof piece !== 'string') {
        this.#holes.set(holeKey(piece), at);
        continue;
      }
      const begin = beginOf(piece, 0);
      const same = [...(this.#byBegin[begin] ?? []), { text: piece, at }];
      this.#byBegin[begin] = same.sort((a, b) => b.text.length - a.text.length);
    }
  }

  /** Returns the stretch that begins at the opening quote of a string. */
  at(text: string, start: number): PlacedStretch | undefined {
    return this.#byBegin[beginOf(text, start)]?.find((each) => text.startsWith(each.text, start));
  }

  /** Returns the number of a hole, or the hole itself. */
  hole(hole: Hole): Hole | number {
    return this.#holes.size === 0 ? hole : (this.#holes.get(holeKey(hole)) ?? hole);
  }
}

/** Returns a number of 12 bits for the two characters behind a quote; few names have the same one. */
const beginOf = (text: string, quote: number): number =>
  ((text.charCodeAt(quote + 1) & 63) << 6) | (text.charCodeAt(quote + 2) & 63);

/** Returns the same text for equal holes, whatever the order of their fields. */
const holeKey = ({ of, form, path }: Hole | JsonObject): string => JSON.stringify([of, form, path]);

/** A string of an event as JSON writes it, with its quotes, and the hole it leaves. */
interface Token {
  readonly text: string;
  readonly hole: Hole;
}

/** By so many first characters a token is looked up. */
const beginUnits = 12;

/** Tokens that begin the same and are compared one by one; of more, the whole string is looked up. */
const comparedMax = 8;

/** The strings of a unit's events. */
class Tokens {
  readonly #hasEscapes: boolean;
  readonly #byBegin = new Map<string, Token[]>();
  readonly #whole = new Map<string, Token>();
  /** Which characters follow the opening quote of a token: for most strings of a unit that settles it. */
  readonly #firsts = new Set<number>();

  constructor(hasEscapes: boolean) {
    this.#hasEscapes = hasEscapes;
  }

  get isEmpty(): boolean {
    return this.#firsts.size === 0;
  }

  /** Adds the long strings inside a value. */
  collect(value: JsonValue | undefined, start: Pick<Hole, 'of'>, path: readonly string[]): void {
    if (typeof value === 'string') this.#string(value, { ...start, path });
    else if (isArray(value)) {
      for (const [index, item] of value.entries())
        if (mayHoldString(item)) this.collect(item, start, [...path, `${index}`]);
    } else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        const held = value[key];
        if (mayHoldString(held) && (path.length > 0 || key !== 'foreign')) this.collect(held, start, [...path, key]);
      }
    }
  }

  /** Returns the token that a string of the text is, by the place of its opening quote. */
  at(text: string, start: number): Token | undefined {
    if (!this.#firsts.has(text.charCodeAt(start + 1))) return undefined;
    const same = this.#byBegin.get(text.slice(start, start + beginUnits));
    if (same === undefined) return undefined;
    if (same.length > comparedMax) return this.#whole.get(text.slice(start, stringEnd(text, start)));
    return same.find((token) => text.startsWith(token.text, start));
  }

  #string(value: string, hole: Hole): void {
    if (!value.isWellFormed()) return;
    const token = JSON.stringify(value);
    this.#add({ text: token, hole });
    const plain = unnumbered(value);
    if (plain !== undefined && plain.length >= holeUnitsMin)
      this.#add({ text: JSON.stringify(plain), hole: { ...hole, form: 'unnumbered' } });
    const ascii = this.#hasEscapes ? asciiJson(token) : token;
    if (ascii !== token) this.#add({ text: ascii, hole: { ...hole, form: 'ascii' } });
  }

  /** Adds a token. Of equal ones, the first has the hole. */
  #add(token: Token): void {
    const begin = token.text.slice(0, beginUnits);
    const same = this.#byBegin.get(begin);
    this.#firsts.add(token.text.charCodeAt(1));
    if (same === undefined) {
      this.#byBegin.set(begin, [token]);
      return;
    }
    same.push(token);
    if (same.length <= comparedMax) return;
    for (const each of same.length === comparedMax + 1 ? same : [token])
      if (!this.#whole.has(each.text)) this.#whole.set(each.text, each);
  }
}

const mayHoldString = (value: JsonValue | undefined): boolean =>
  typeof value === 'string' ? value.length >= holeUnitsMin : typeof value === 'object' && value !== null;

function cut(text: string, tokens: Tokens, repeated: RepeatedPieces | undefined): KeptText {
  const pieces: (string | number | Hole)[] = [];
  let [kept, holes] = [0, 0];
  const push = (start: number, end: number, piece: number | Hole): void => {
    if (start > kept) pieces.push(text.slice(kept, start));
    pieces.push(piece);
    kept = end;
  };
  for (let start = text.indexOf('"'); start >= 0; ) {
    const token = tokens.at(text, start);
    const stretch = token === undefined ? repeated?.at(text, start) : undefined;
    const found = token ?? stretch;
    const end = found === undefined ? stringEnd(text, start) : start + found.text.length;
    if (token !== undefined) {
      holes++;
      push(start, end, repeated?.hole(token.hole) ?? token.hole);
    } else if (stretch !== undefined) push(start, end, stretch.at);
    start = text.indexOf('"', end);
  }
  // Text without holes stays in one piece: it is short, or nothing of it is in the events.
  if (holes === 0) return text;
  if (kept < text.length) pieces.push(text.slice(kept));
  return pieces;
}

/** Returns numbered lines without their numbers and without a note below them; undefined if they are not numbered. */
function unnumbered(text: string): string | undefined {
  if (numberEnd(text, 0) === undefined) return undefined;
  const note = text.indexOf('\n\n<');
  const last = note < 0 ? text.length : note;
  const lines: string[] = [];
  for (let start = 0; start <= last; ) {
    const first = numberEnd(text, start);
    if (first === undefined) return undefined;
    const feed = text.indexOf('\n', first);
    const end = feed < 0 || feed > last ? last : feed;
    lines.push(text.slice(first, end));
    start = end + 1;
  }
  return lines.join('\n');
}

const [space, zero, nine, arrow] = [0x20, 0x30, 0x39, 0x2192];

/** Returns where a line begins behind its number and arrow; undefined if it has none. */
function numberEnd(text: string, start: number): number | undefined {
  let at = start;
  while (text.charCodeAt(at) === space) at++;
  const first = at;
  while (text.charCodeAt(at) >= zero && text.charCodeAt(at) <= nine) at++;
  return at > first && text.charCodeAt(at) === arrow ? at + 1 : undefined;
}

/** Returns JSON text with every character outside ASCII as an escape. */
function asciiJson(token: string): string {
  return token.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns kept text with its holes filled from the data of the unit's events; undefined if a string is gone. */
export function fillText(
  kept: JsonValue,
  dataOf: (of: number) => JsonObject | undefined,
  stretches: Stretches = [],
): string | undefined {
  if (typeof kept === 'string') return kept;
  if (!isArray(kept)) return undefined;
  const texts: string[] = [];
  for (const named of kept) {
    const piece = typeof named === 'number' ? (stretches[named] ?? null) : named;
    const text = typeof piece === 'string' ? piece : filledHole(piece, dataOf);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts.join('');
}

function filledHole(hole: JsonValue, dataOf: (of: number) => JsonObject | undefined): string | undefined {
  if (!isObject(hole)) return undefined;
  const { of, path } = hole;
  if (!isArray(path)) return undefined;
  const value = valueAt(dataOf(typeof of === 'number' ? of : 0), path.map(String));
  if (typeof value !== 'string') return undefined;
  switch (stringAt(hole, 'form')) {
    case 'ascii':
      return asciiJson(JSON.stringify(value));
    case 'unnumbered':
      return JSON.stringify(unnumbered(value));
    default:
      return JSON.stringify(value);
  }
}
