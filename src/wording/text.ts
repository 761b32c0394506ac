import { utf8Length } from '../core/utf8.ts';

let made: Intl.Segmenter | undefined;

/** Splits text into graphemes. The segmenter is created on first use: most text does not need it, and it loads slowly. */
function graphemes(text: string): Intl.Segments {
  made ??= new Intl.Segmenter();
  return made.segment(text);
}

// Escape sequences and control characters would let a payload move the cursor, change colors or forge a prompt.
// Bidirectional controls would reverse the text after them, and line separators break a row on some terminals.
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes text safe to print on one line: control characters become visible signs. */
export function plain(text: string): string {
  return text.replace(controls, (c) => {
    if (c === '\n') return '⏎';
    if (c === '\t') return ' ';
    const code = c.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '␡' : '�';
  });
}

/** Returns text of several lines in which control characters are visible signs; line breaks stay. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n');
}

// Characters that take one column and never combine: ASCII, Latin, punctuation, arrows, control pictures, boxes.
const simple = /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2400-\u257f]*$/;

/** Counts the columns of text: two for wide characters and emoji, none for combining marks. */
export function widthOf(text: string): number {
  if (simple.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  // Variation selector 16 selects the emoji form, which is wide.
  if (grapheme.includes('\ufe0f') || /\p{Emoji_Presentation}/u.test(grapheme)) return 2;
  if (code < 0x300) return 1;
  if (/^[\p{Mark}\p{Default_Ignorable_Code_Point}]+$/u.test(grapheme)) return 0;
  return isWide(code) ? 2 : 1;
}

// The blocks whose characters are "W" or "F" in Unicode's EastAsianWidth.txt.
const wideRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6b],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f265],
  [0x1f300, 0x1f64f],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
];

function isWide(code: number): boolean {
  return wideRanges.some(([from, to]) => code >= from && code <= to);
}

/** Returns the longest beginning of a string that fits into that many columns, without reading the rest. */
export function beginningOf(text: string, columns: number): string {
  if (columns <= 0) return '';
  // The character after the last one may combine with it, so it must be simple too.
  if (simple.test(text.slice(0, columns + 1))) return text.slice(0, columns);
  const head = text.slice(0, columns * lettersPerColumnMax);
  let width = 0;
  let length = 0;
  for (const { segment, index } of graphemes(head)) {
    width += graphemeWidth(segment);
    if (width > columns) break;
    length = index + segment.length;
  }
  return text.slice(0, length);
}

// A family emoji with skin tones has 20 code units in 2 columns.
const lettersPerColumnMax = 16;

/** Cuts text to that many columns, with an ellipsis if something is cut off. */
export function cut(text: string, columns: number): string {
  if (columns <= 0) return '';
  const head = steady(text.slice(0, columns * lettersPerColumnMax * 2));
  const isAll = text.length <= columns * lettersPerColumnMax * 2 && beginningOf(head, columns).length === head.length;
  return isAll ? head : `${beginningOf(head, columns - 1)}…`;
}

const toned = /(\p{Extended_Pictographic})(?:\ufe0f|\p{Emoji_Modifier}|\u200d\p{Extended_Pictographic})+/gu;

/**
 * Reduces each emoji to its first character. Terminals disagree on how wide skin tones and families are, and a table row
 * must end at the same column in all of them.
 */
function steady(text: string): string {
  return simple.test(text) ? text : text.replace(toned, '$1');
}

/** Cuts or pads text to exactly that many columns. */
export function fit(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const shown = cut(text, columns);
  const gap = ' '.repeat(Math.max(0, columns - widthOf(shown)));
  return align === 'left' ? shown + gap : gap + shown;
}

/** Folds text into lines of at most that many columns, between words where possible. Lines are made on demand. */
export function* foldedLines(text: string, columns: number): Generator<string> {
  let from = 0;
  while (from <= text.length) {
    const end = text.indexOf('\n', from);
    const stop = end < 0 ? text.length : end;
    yield* foldedLine(text, from, end > from && text[end - 1] === '\r' ? end - 1 : stop, Math.max(2, columns));
    from = stop + 1;
  }
}

function* foldedLine(text: string, from: number, stop: number, columns: number): Generator<string> {
  let at = from;
  do {
    const head = plain(text.slice(at, Math.min(stop, at + columns * lettersPerColumnMax)));
    const fits = beginningOf(head, columns);
    const isRest = at + fits.length >= stop;
    const space = isRest || head[fits.length] === ' ' ? -1 : fits.lastIndexOf(' ');
    // Take a character that is wider than the line anyway, or the loop would never end.
    const taken = space > columns / 2 ? fits.slice(0, space) : fits === '' ? head.slice(0, 2) : fits;
    yield taken;
    at += taken.length;
    while (at < stop && text[at] === ' ') at++;
  } while (at < stop);
}

/** The first lines of a text, and how much is left. */
export interface Folded {
  readonly lines: readonly string[];
  /** The number of bytes after the last line. */
  readonly bytesLeft: number;
}

/** Folds text into at most that many lines. */
export function fold(text: string, columns: number, linesMax: number = Number.POSITIVE_INFINITY): Folded {
  const lines: string[] = [];
  let letters = 0;
  for (const line of foldedLines(text, columns)) {
    if (lines.length >= linesMax) return { lines, bytesLeft: utf8Length(text.slice(letters)) };
    lines.push(line);
    letters += line.length;
  }
  return { lines, bytesLeft: 0 };
}
