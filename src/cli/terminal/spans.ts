import { beginningOf, plain, widthOf } from '../../wording/text.ts';
import type { Output, Style } from './output.ts';

/** Text and its style. */
export interface Span {
  readonly text: string;
  readonly style?: Style;
}

/** Folds spans into lines of at most that many columns, between words where possible. */
export function foldSpans(spans: readonly Span[], columns: number): Span[][] {
  const lines = new SpanLines(columns);
  for (const { text, style } of spans) {
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) lines.break();
      for (const word of line.match(/\s+|\S+/g) ?? []) lines.add(plain(word), style);
    }
  }
  return lines.list;
}

/** Lines that are filled word by word. */
class SpanLines {
  readonly list: { text: string; style?: Style }[][] = [];
  #line: { text: string; style?: Style }[] = [];
  readonly #columns: number;
  #width = 0;

  constructor(columns: number) {
    this.#columns = Math.max(2, columns);
    this.break();
  }

  break(): void {
    this.#line = [];
    this.list.push(this.#line);
    this.#width = 0;
  }

  add(word: string, style: Style | undefined): void {
    let left = word;
    if (this.#width > 0 && this.#width + widthOf(left) > this.#columns) {
      this.break();
      left = left.trimStart();
    }
    while (left !== '') {
      const piece = beginningOf(left, this.#columns) || left.slice(0, 2);
      this.#put(piece, style);
      left = left.slice(piece.length);
      if (left !== '') this.break();
    }
  }

  #put(text: string, style: Style | undefined): void {
    const last = this.#line.at(-1);
    if (last !== undefined && last.style === style) last.text += text;
    else this.#line.push(style === undefined ? { text } : { text, style });
    this.#width += widthOf(text);
  }
}

/** Writes a line of spans, padded with spaces to that many columns. */
export function spanLine(out: Output, spans: readonly Span[], columns = 0): string {
  const width = spans.reduce((sum, { text }) => sum + widthOf(text), 0);
  const text = spans.map((span) => (span.style === undefined ? span.text : out.style(span.style, span.text))).join('');
  return text + ' '.repeat(Math.max(0, columns - width));
}
