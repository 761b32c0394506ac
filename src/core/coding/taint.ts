import { isObject, type JsonValue } from '../json.ts';
import { oneLine } from '../title.ts';
import { contentText } from './coding-book.ts';

/** So many characters of a quarantined text make a text unsafe. */
const taintCharacters = 16;

/** Tells whether a text holds a piece of something that was quarantined. */
export type TaintCheck = (text: string) => boolean;

/** The check if nothing is quarantined. */
export const neverTainted: TaintCheck = () => false;

/**
 * Returns a check for texts that hold 16 or more characters of these contents: as they are, with their white space
 * folded, or without the escapes of JSON and characters that nobody sees. Hashes of all pieces are compared first, so that
 * a check reads each text once.
 */
export function taintCheckOf(contents: readonly JsonValue[]): TaintCheck {
  const texts = [...new Set(contents.flatMap(textsOf).flatMap((text) => [text, oneLine(text), bareText(text)]))];
  const known = texts.filter((text) => text.length >= taintCharacters);
  if (known.length === 0) return neverTainted;
  const hashes = new Set<number>();
  for (const text of known) eachPiece(text, (hash) => void hashes.add(hash));
  const holdsPiece = (text: string): boolean => {
    let isFound = false;
    eachPiece(text, (hash, at) => {
      if (isFound || !hashes.has(hash)) return;
      const piece = text.slice(at, at + taintCharacters);
      isFound = known.some((held) => held.includes(piece));
    });
    return isFound;
  };
  return (text) => holdsPiece(text) || (disguise.test(text) && holdsPiece(bareText(text)));
}

/** An escape of JSON, or a character that takes no room on a screen. */
const disguise = /\\|\p{Default_Ignorable_Code_Point}/u;

/** Returns a text as a reader takes it: without escapes, without characters that nobody sees, in one line. */
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
const modulus = 2 ** 31 - 1;
/** The weight of the character that leaves the window. */
const leading = Array.from({ length: taintCharacters - 1 }).reduce<number>((power) => (power * base) % modulus, 1);

/** Calls back with the rolling hash of each window of a text, and where it begins. Products stay exact: base is small. */
function eachPiece(text: string, visit: (hash: number, at: number) => void): void {
  let hash = 0;
  for (let index = 0; index < text.length; index++) {
    if (index >= taintCharacters) {
      const left = mulMod(text.charCodeAt(index - taintCharacters), leading);
      hash = (hash - left + modulus) % modulus;
    }
    hash = (hash * base + text.charCodeAt(index)) % modulus;
    if (index >= taintCharacters - 1) visit(hash, index - taintCharacters + 1);
  }
}

/** Multiplies a 16-bit number with a 31-bit one: the product has 47 bits and is exact. */
function mulMod(small: number, large: number): number {
  return (small * large) % modulus;
}
