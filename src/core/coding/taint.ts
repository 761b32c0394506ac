import { isObject, type JsonValue } from '../json.ts';
import { oneLine } from '../title.ts';
import { contentText } from './note.ts';

/** So many characters of a quarantined text make a text unsafe. */
const taintCharacters = 16;

/** Returns true if a text has a piece of something that was quarantined. */
export type TaintCheck = (text: string) => boolean;

/** The check if nothing is quarantined. */
export const neverTainted: TaintCheck = () => false;

/**
 * Returns a check for text with 16 or more characters of these contents: as they are, with their white space
 * folded, or without the escapes of JSON and invisible characters. Hashes of all pieces are compared first, so that
 * a check reads each text once.
 */
export function taintCheckOf(contents: readonly JsonValue[]): TaintCheck {
  const texts = [...new Set(contents.flatMap(textsOf).flatMap((text) => [text, oneLine(text), bareText(text)]))];
  const known = texts.filter((text) => text.length >= taintCharacters);
  if (known.length === 0) return neverTainted;
  const hashes = new HashTable(known.reduce((sum, text) => sum + text.length, 0));
  for (const text of known) for (const hash of pieceHashes(text)) hashes.add(hash);
  const holdsPiece = (text: string): boolean =>
    pieceHashes(text).some((hash, at) => {
      if (!hashes.has(hash)) return false;
      const piece = text.slice(at, at + taintCharacters);
      return known.some((held) => held.includes(piece));
    });
  return (text) => holdsPiece(text) || (disguise.test(text) && holdsPiece(bareText(text)));
}

/** An escape of JSON, or a character that takes no room on a screen. */
const disguise = /\\|\p{Default_Ignorable_Code_Point}/u;

/** Returns text as a reader takes it: without escapes, without invisible characters, in one line. */
function bareText(text: string): string {
  if (!disguise.test(text)) return oneLine(text);
  const unescaped = text
    .replace(/\\+u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\+[nrtbf]/g, ' ')
    .replace(/\\+(?=["'/])/g, '');
  return oneLine(unescaped.replace(/\p{Default_Ignorable_Code_Point}/gu, ''));
}

/** Returns every text in a content: the strings in it, and the whole of it as it would be written. */
function textsOf(content: JsonValue): string[] {
  const whole = contentText(content);
  return [...(whole === undefined ? [] : [whole]), ...stringsIn(content)];
}

function stringsIn(content: JsonValue): string[] {
  if (typeof content === 'string') return [content];
  if (Array.isArray(content)) return content.flatMap(stringsIn);
  return isObject(content) ? Object.values(content).flatMap(stringsIn) : [];
}

const base = 257;
/** The weight of the character that leaves the window. */
const leading = Array.from({ length: taintCharacters }).reduce<number>((power) => Math.imul(power, base), 1);

/** Returns the rolling hash of each window of a string, by where it begins. Numbers of 32 bits wrap around. */
function pieceHashes(text: string): Int32Array {
  const hashes = new Int32Array(Math.max(0, text.length - taintCharacters + 1));
  let hash = 0;
  for (let index = 0; index < text.length; index++) {
    hash = (Math.imul(hash, base) + text.charCodeAt(index)) | 0;
    const first = index - taintCharacters + 1;
    if (first > 0) hash = (hash - Math.imul(text.charCodeAt(first - 1), leading)) | 0;
    if (first >= 0) hashes[first] = hash;
  }
  return hashes;
}

/** A set of hashes in one flat list: millions of them take a few megabytes. */
class HashTable {
  readonly #slots: Int32Array;
  readonly #mask: number;

  constructor(most: number) {
    const size = 2 ** Math.ceil(Math.log2(2 * most + 2));
    this.#slots = new Int32Array(size);
    this.#mask = size - 1;
  }

  add(hash: number): void {
    this.#slots[this.#slotOf(hash || 1)] = hash || 1;
  }

  has(hash: number): boolean {
    return this.#slots[this.#slotOf(hash || 1)] !== 0;
  }

  /** Returns the slot that has a hash, or the empty one where it belongs; 0 marks an empty one. */
  #slotOf(hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & this.#mask;
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== hash) slot = (slot + 1) & this.#mask;
    return slot;
  }
}
