/** The places of the elements of an array in JSON text: the end is after the last character. */
export interface JsonElements {
  readonly elements: readonly { readonly start: number; readonly end: number }[];
}

/**
 * Finds the elements of the array under a name of the top object; undefined if there is none. The text must be valid
 * JSON: it is scanned, not checked.
 */
export function elementsOf(text: string, name: string): JsonElements | undefined {
  const scan = new JsonScan(text);
  if (!scan.enter('{')) return undefined;
  let found: JsonElements | undefined;
  while (!scan.leave('}')) {
    const key: unknown = JSON.parse(scan.value());
    scan.skip(':');
    // The last of two equal names counts, as in parsing.
    if (key === name) found = scan.peek() === '[' ? { elements: scan.elements() } : undefined;
    else scan.value();
  }
  return found;
}

/** Scans JSON text value by value. */
class JsonScan {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  peek(): string {
    while (/[\s,]/.test(this.#text[this.#at] ?? 'x')) this.#at++;
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

  elements(): { readonly start: number; readonly end: number }[] {
    const elements: { start: number; end: number }[] = [];
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
      const char = this.#text[this.#at];
      if (char === undefined) break;
      if (char === '"') this.#string();
      else if (char === '{' || char === '[') {
        depth++;
        this.#at++;
      } else if (char === '}' || char === ']') {
        depth--;
        this.#at++;
      } else if (depth > 0) this.#at++;
      else this.#word();
    } while (depth > 0);
    return this.#text.slice(start, this.#at);
  }

  #string(): void {
    this.#at++;
    for (let char = this.#text[this.#at]; char !== '"' && char !== undefined; char = this.#text[this.#at])
      this.#at += char === '\\' ? 2 : 1;
    this.#at++;
  }

  /** Skips a number, true, false or null. */
  #word(): void {
    const start = this.#at;
    while (/[^\s,:{}[\]"]/.test(this.#text[this.#at] ?? ',')) this.#at++;
    if (this.#at === start) this.#at++;
  }
}
