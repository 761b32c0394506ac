import type { SecretSearch } from './secret-span.ts';

/** A set of ASCII characters, as a table of their codes. */
export type CharTable = Uint8Array;

/** Makes a table of the ASCII characters that a pattern of one character matches. */
export function charTable(pattern: RegExp): CharTable {
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
}

/** Letters, digits and the underscore. */
export const wordChars: CharTable = charTable(/\w/);

/** Returns true if the character at a place is in a table; there is none outside the text. */
export function isAt(text: string, at: number, table: CharTable): boolean {
  return table[text.charCodeAt(at)] === 1;
}

/** Returns the end of the run of characters of a table that begins at a place. */
export function runEnd(search: SecretSearch, at: number, table: CharTable): number {
  const { text } = search;
  let end = at;
  while (table[text.charCodeAt(end)] === 1) end++;
  search.effort += end - at + 1;
  return end;
}

/** Returns the start of the run of characters of a table that ends at a place, at most so many characters back. */
export function runStart(search: SecretSearch, at: number, table: CharTable, unitsMax: number): number {
  const { text } = search;
  const least = Math.max(0, at - unitsMax);
  let start = at;
  while (start > least && table[text.charCodeAt(start - 1)] === 1) start--;
  search.effort += at - start + 1;
  return start;
}

/** Applies a sticky pattern at a place. Its quantifiers are bounded, so this takes bounded time. */
export function matchAt(search: SecretSearch, pattern: RegExp, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  const match = pattern.exec(search.text);
  search.effort += 1 + (match?.[0].length ?? 0);
  return match;
}

const escapeUnitsMax = 24;
const escapeEnd =
  /(?:\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}|(?:\u{1b}|\\u001[bB]|\\x1[bB]|\\e|\\033)\[[\d;]{0,12}m)$/u;

/**
 * Returns true if a word can begin at a place: no letter, digit or underscore is before it, or those that do belong
 * to an escape, such as the `n` of an escaped newline in JSON text, `%3D` in an address, or a color of a terminal.
 */
export function isWordStart(search: SecretSearch, at: number): boolean {
  const { text } = search;
  if (!isAt(text, at - 1, wordChars)) return true;
  search.effort += escapeUnitsMax;
  return escapeEnd.test(text.slice(Math.max(0, at - escapeUnitsMax), at));
}
