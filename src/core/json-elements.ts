/** The place of a value in JSON text: the end is after its last character. */
interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/** The places of the elements of an array in JSON text. */
export interface JsonElements {
  readonly elements: readonly JsonSpan[];
}

/**
 * Finds the elements of the array under a name of the top object, or of the top array if the name is empty; undefined if
 * there is none. It scans the text and does not check it: of text that is cut off, the last element is the rest of it.
 */
export function elementsOf(text: string, name: string): JsonElements | undefined {
  const scan = new JsonScan(text);
  if (name === '') return scan.peek() === '[' ? { elements: scan.elements() } : undefined;
  if (!scan.enter('{')) return undefined;
  let found: JsonElements | undefined;
  while (!scan.leave('}')) {
    const key = parsedKey(scan.value());
    scan.skip(':');
    // The last of two equal names counts, as in parsing.
    if (key === name) found = scan.peek() === '[' ? { elements: scan.elements() } : undefined;
    else scan.value();
  }
  return found;
}

function parsedKey(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isGap = (code: number): boolean =>
  code === 32 || code === 44 || code === 10 || code === 13 || code === 9 || code === 0xfeff;

/** Scans JSON text value by value. */
class JsonScan {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  peek(): string {
    while (isGap(this.#text.charCodeAt(this.#at))) this.#at++;
    return this.#text[this.#at] ?? '';
  }

  enter(open: string): boolean {
    if (this.peek() !== open) return false;
    this.#at++;
    return true;
  }

  leave(close: string): boolean {
    const next = this.peek();
    if (next === close) this.#at++;
    return next === close || next === '';
  }

  skip(char: string): void {
    if (this.peek() === char) this.#at++;
  }

  elements(): JsonSpan[] {
    const elements: JsonSpan[] = [];
    this.enter('[');
    while (!this.leave(']')) {
      const start = this.#at;
      this.value();
      elements.push({ start, end: this.#at });
    }
    return elements;
  }

  /** Skips one value and returns its text. */
  value(): string {
    this.peek();
    const start = this.#at;
    let depth = 0;
    do {
      const code = this.#text.charCodeAt(this.#at);
      if (Number.isNaN(code)) break;
      if (code === quote) this.#at = stringEnd(this.#text, this.#at);
      else if (code === 0x7b || code === 0x5b) {
        depth++;
        this.#at++;
      } else if (code === 0x7d || code === 0x5d) {
        depth--;
        this.#at++;
      } else if (depth > 0) this.#at++;
      else this.#word();
    } while (depth > 0);
    return this.#text.slice(start, this.#at);
  }

  /** Skips a number, true, false or null. */
  #word(): void {
    const start = this.#at;
    while (/[^\s,:{}[\]"]/.test(this.#text[this.#at] ?? ',')) this.#at++;
    if (this.#at === start) this.#at++;
  }
}

const quote = 0x22;
const backslash = 0x5c;

/** Returns the place after the string that begins with the quote at a place; the end of the text if it has no end. */
export function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash && end - 1 - slashes > start) slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}
