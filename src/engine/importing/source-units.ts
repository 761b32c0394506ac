import { parseJson } from '../../core/canonical-json.ts';
import { hasCode, RepriseError } from '../../core/error.ts';
import { given, isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { elementsOf } from '../../core/json-elements.ts';
import { limits } from '../../core/limits.ts';
import { type TextHint, textHint } from '../../core/masking/text-hint.ts';
import type { UnitCut } from '../../core/recording/foreign-format.ts';

/** A unit as it is cut out of a file. */
export interface RawUnit {
  readonly at: number;
  /** Undefined if the bytes are no text. */
  readonly text: string | undefined;
  readonly bytes?: Uint8Array;
  /** The end of its line, if it is not a line feed. */
  readonly end?: string;
  /** Traits of its text, if its bytes were looked at. */
  readonly hint?: TextHint;
}

/** The text around the elements of a file. */
export interface Frame {
  readonly head: string;
  readonly tail: string;
  /** The text between two elements: the same everywhere, or one after the other. */
  readonly between: string | readonly string[];
  /** How many elements it is around. */
  readonly events: number;
}

/** A file that was read as a whole. */
export interface WholeFile {
  readonly units: readonly RawUnit[];
  readonly frame: Frame | undefined;
  /** The JSON around the elements. */
  readonly document: JsonObject | undefined;
  /** The reason why the text around the elements cannot be read; left out if it can. */
  readonly fault?: string;
}

/** How a file that is read as a whole is cut. */
export type WholeCut = Exclude<UnitCut, { kind: 'lines' | 'sources' }>;

const decoding = { fatal: true, ignoreBOM: true };

/** Cuts a stream of bytes into lines, a piece of it at a time: memory does not grow with the file. */
export async function* lineBatches(
  chunks: AsyncIterable<string | Uint8Array>,
  file: string,
  limit: LineLimit = 'importUnitBytesMax',
): AsyncGenerator<readonly RawUnit[], void, undefined> {
  const lines = new LineCutter(file, limit);
  for await (const chunk of chunks) {
    // An empty piece says that everything there is now was read.
    if (chunk.length === 0) yield [];
    const cut = lines.cut(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk);
    if (cut.length > 0) yield cut;
  }
  const last = lines.rest();
  if (last !== undefined) yield [last];
}

const [lineFeed, carriageReturn] = [10, 13];

/** The limits of the bytes of a line. */
type LineLimit = 'importUnitBytesMax' | 'bundleLineBytesMax';

class LineCutter {
  readonly #file: string;
  readonly #limit: LineLimit;
  readonly #decoder = new TextDecoder('utf-8', decoding);
  #at = 0;
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  constructor(file: string, limit: LineLimit) {
    this.#file = file;
    this.#limit = limit;
  }

  cut(chunk: Uint8Array): RawUnit[] {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (end === 0) {
      this.#hold(chunk);
      return [];
    }
    this.#hold(chunk.subarray(0, end));
    const whole = this.#take();
    this.#hold(chunk.subarray(end));
    const units: RawUnit[] = [];
    for (let start = 0; start < whole.length; ) {
      const feed = whole.indexOf(lineFeed, start);
      units.push(this.#line(whole.subarray(start, feed)));
      start = feed + 1;
    }
    return units;
  }

  /** Returns the last line, which has no end. */
  rest(): RawUnit | undefined {
    const bytes = this.#take();
    if (bytes.length === 0) return undefined;
    const text = decoded(this.#decoder, bytes);
    return { at: this.#at++, text, end: '', ...(text === undefined ? { bytes } : {}) };
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    // The reader may use the memory of a piece again.
    this.#held.push(bytes.slice());
    this.#heldBytes += bytes.length;
    if (this.#heldBytes <= limits[this.#limit]) return;
    const longest = this.#longest();
    if (longest > limits[this.#limit]) refuseUnit(this.#file, this.#at, longest, this.#limit);
  }

  /** Returns the length of the line that is not finished yet, or of the longest one. */
  #longest(): number {
    let [longest, length] = [0, 0];
    for (const bytes of this.#held) {
      let start = 0;
      for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
        longest = Math.max(longest, length + end - start);
        [length, start] = [0, end + 1];
      }
      length += bytes.length - start;
    }
    return Math.max(longest, length);
  }

  #take(): Uint8Array {
    const [only] = this.#held;
    const whole = this.#held.length === 1 && only !== undefined ? only : joined(this.#held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    return whole;
  }

  /** Decodes a line by itself: a string that is cut out of a long one would keep all of it in memory. */
  #line(bytes: Uint8Array): RawUnit {
    const at = this.#at++;
    const isReturned = bytes.at(-1) === carriageReturn;
    const text = decoded(this.#decoder, isReturned ? bytes.subarray(0, -1) : bytes);
    if (text === undefined) return { at, text, bytes };
    // The import does not look for secrets in the lines of a bundle.
    const hint = this.#limit === 'importUnitBytesMax' ? { hint: textHint(bytes) } : undefined;
    return isReturned ? { at, text, end: '\r\n', ...hint } : { at, text, ...hint };
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function decoded(decoder: TextDecoder, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function refuseUnit(file: string, at: number, bytes: number, limit: LineLimit = 'importUnitBytesMax'): never {
  const where = file === '' ? `unit ${at}` : `unit ${at} of ${JSON.stringify(file)}`;
  throw new RepriseError(
    'limit.exceeded',
    `Cannot import: ${where} has ${bytes} bytes, over the limit of ${limits[limit]} ("${limit}")`,
    {
      hint: 'Split the source, or take that unit out of it.',
      details: { limit, max: limits[limit], file, at },
    },
  );
}

/** Reads a source as a whole and cuts it into its elements; a file of bytes that are not text is one unit. */
export async function readWhole(
  chunks: AsyncIterable<string | Uint8Array>,
  cut: WholeCut,
  file: string,
): Promise<WholeFile> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk.slice();
    pieces.push(bytes);
    length += bytes.length;
    if (length > limits.importTextMax) refuseText();
  }
  const bytes = joined(pieces, length);
  const text = decoded(new TextDecoder('utf-8', decoding), bytes);
  if (text === undefined) {
    if (length > limits.importUnitBytesMax) refuseUnit(file, 0, length);
    return { units: [{ at: 0, text, bytes, end: '' }], frame: undefined, document: undefined };
  }
  return cutText(text, cut, file);
}

function cutText(text: string, cut: WholeCut, file: string): WholeFile {
  const found = cut.kind === 'whole' ? undefined : firstElements(text, cut.of);
  if (found === undefined) {
    if (text.length > limits.importUnitBytesMax) refuseUnit(file, 0, text.length);
    return { units: [{ at: 0, text, end: '' }], frame: undefined, document: documentOf(text) };
  }
  const { elements } = found;
  const long = elements.findIndex(({ start, end }) => end - start > limits.importUnitBytesMax);
  const span = elements[long];
  if (span !== undefined) refuseUnit(file, long, span.end - span.start);
  const [first, last] = [elements[0], elements.at(-1)];
  const head = first === undefined ? text : text.slice(0, first.start);
  const tail = last === undefined ? '' : text.slice(last.end);
  const between = elements.slice(1).map(({ start }, index) => text.slice(elements[index]?.end ?? 0, start));
  const isEven = between.every((separator) => separator === between[0]);
  // Of a file that is cut off in an element, that element tells.
  const isCut = last !== undefined && parseUnit(text.slice(last.start, last.end)).fault !== undefined;
  const { fault } = first === undefined || isCut ? {} : parseUnit(`${head}${tail}`.replace(/^\uFEFF/, ''));
  return {
    units: elements.map(({ start, end }, at) => ({ at, text: text.slice(start, end) })),
    frame: { head, tail, between: isEven ? (between[0] ?? ',\n    ') : between, events: elements.length },
    // Of a file that is cut off, what comes before the elements can still be read.
    document: documentOf(first === undefined ? text : `${head}${tail}`) ?? documentOf(`${head}]}`),
    ...given({ fault }),
  };
}

function firstElements(text: string, names: readonly string[]): ReturnType<typeof elementsOf> {
  for (const name of names) {
    const found = elementsOf(text, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function documentOf(text: string): JsonObject | undefined {
  const { value } = parseUnit(text.replace(/^\uFEFF/, ''));
  return isObject(value) ? value : undefined;
}

function refuseText(): never {
  throw new RepriseError(
    'limit.exceeded',
    `Cannot import: the file has more than ${limits.importTextMax} bytes ("importTextMax")`,
    { hint: 'Import it in pieces.', details: { limit: 'importTextMax', max: limits.importTextMax } },
  );
}

/** The JSON of a unit, or why it has none. */
export type ParsedUnit =
  | { readonly value: JsonValue; readonly fault?: never }
  | { readonly value?: never; readonly fault: string };

// A number of so many digits, or with an exponent, may be one that JavaScript rounds. Ids and times are in strings.
const riskyNumber = /(?:^|[:,[])\s*-?(?:[\d.]{16}|[\d.]+[eE])/;

/** Parses the JSON of a unit. Of a number that JavaScript cannot carry exactly, it says so instead of rounding it. */
export function parseUnit(text: string, hint?: TextHint): ParsedUnit {
  try {
    return {
      value: hint?.mayRound !== false && riskyNumber.test(text) ? parseJson(text) : (JSON.parse(text) as JsonValue),
    };
  } catch (error) {
    if (hasCode(error, 'json.unsafe-number')) return { fault: 'it has a number that JavaScript cannot carry exactly' };
    if (hasCode(error, 'json.too-deep')) return { fault: `it is nested more than ${limits.jsonDepthMax} deep` };
    return { fault: 'it is not JSON' };
  }
}
