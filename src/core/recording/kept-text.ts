import { isArray, isObject, type JsonInput, type JsonObject, type JsonValue, stringAt, valueAt } from '../json.ts';
import { stringEnd } from '../json-elements.ts';

/**
 * A hole in kept text: a string of the unit's own events stands there, as JSON writes it. A text that is erased or
 * masked in an event is therefore gone from its source.
 */
interface Hole {
  /** Which event of the unit holds the string; the first one if left out. */
  readonly of?: number;
  /** The keys and indexes that lead to it in the event's data. */
  readonly path: readonly string[];
  /**
   * `ascii` if every character outside ASCII is written as an escape; `unnumbered` if the event holds the text with a
   * number before each line, as tools show files to models.
   */
  readonly form?: 'ascii' | 'unnumbered';
}

/** The text of a unit: verbatim, or pieces of text with holes between them. */
export type KeptText = string | readonly (string | Hole)[];

// A hole takes about 40 bytes to write down, so shorter strings stay in the text.
const holeUnitsMin = 64;

/** Returns the text of a unit with holes where its events hold a long string. Filling them gives back the same text. */
export function keepText(text: string, events: readonly (JsonInput | undefined)[]): KeptText {
  const holes = new Map<string, Hole>();
  const hasEscapes = text.includes('\\u');
  for (const [of, data] of events.entries())
    if (data !== undefined) collect(data as JsonObject, of === 0 ? {} : { of }, [], hasEscapes, holes);
  return holes.size === 0 ? text : cut(text, holes);
}

function collect(
  value: JsonValue | undefined,
  start: Pick<Hole, 'of'>,
  path: readonly string[],
  hasEscapes: boolean,
  holes: Map<string, Hole>,
): void {
  if (typeof value === 'string') {
    if (value.length < holeUnitsMin || !value.isWellFormed()) return;
    const token = JSON.stringify(value);
    if (!holes.has(token)) holes.set(token, { ...start, path });
    const plain = unnumbered(value);
    if (plain !== undefined) holes.set(JSON.stringify(plain), { ...start, path, form: 'unnumbered' });
    if (!hasEscapes) return;
    const ascii = asciiJson(token);
    if (ascii !== token && !holes.has(ascii)) holes.set(ascii, { ...start, path, form: 'ascii' });
  } else if (isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, start, [...path, `${index}`], hasEscapes, holes);
  } else if (isObject(value)) {
    for (const key of Object.keys(value))
      if (path.length > 0 || key !== 'foreign') collect(value[key], start, [...path, key], hasEscapes, holes);
  }
}

const lineNumber = /^ *\d+\u2192/;

/** Returns numbered lines without their numbers and without a note below them; undefined if they are not numbered. */
function unnumbered(text: string): string | undefined {
  if (!lineNumber.test(text)) return undefined;
  const note = text.indexOf('\n\n<');
  const lines = (note < 0 ? text : text.slice(0, note)).split('\n');
  return lines.every((line) => lineNumber.test(line))
    ? lines.map((line) => line.replace(lineNumber, '')).join('\n')
    : undefined;
}

/** Returns JSON text with every character outside ASCII as an escape. */
function asciiJson(token: string): string {
  return token.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function cut(text: string, holes: ReadonlyMap<string, Hole>): KeptText {
  const pieces: (string | Hole)[] = [];
  let kept = 0;
  for (let start = text.indexOf('"'); start >= 0; ) {
    const end = stringEnd(text, start);
    const hole = end - start < holeUnitsMin ? undefined : holes.get(text.slice(start, end));
    if (hole !== undefined) {
      if (start > kept) pieces.push(text.slice(kept, start));
      pieces.push(hole);
      kept = end;
    }
    start = text.indexOf('"', end);
  }
  if (kept === 0) return text;
  if (kept < text.length) pieces.push(text.slice(kept));
  return pieces;
}

/** Returns kept text with its holes filled from the data of the unit's events; undefined if a string is gone. */
export function fillText(kept: JsonValue, dataOf: (of: number) => JsonObject | undefined): string | undefined {
  if (typeof kept === 'string') return kept;
  if (!isArray(kept)) return undefined;
  const texts: string[] = [];
  for (const piece of kept) {
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
