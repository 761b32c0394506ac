import { canonicalJson } from '../canonical-json.ts';
import { isArray, isObject, type JsonObject, type JsonValue, setKey } from '../json.ts';
import { limits } from '../limits.ts';
import type { Digest } from '../point.ts';
import type { Sha256 } from './digest.ts';

/**
 * A piece of a payload, stored once under its digest. A `value` is the same wherever it occurs, so it is shared. Lists,
 * bodies and sealed data are salted, so that no one can guess their text from the digest once the text is gone.
 */
export interface PartInput {
  readonly digest: Digest;
  readonly kind: 'value' | 'list' | 'body' | 'delta' | 'sealed';
  /** Null for a `value`. */
  readonly salt: string | null;
  readonly text: string;
  /** The parts this one cannot be read without. */
  readonly refs: readonly Digest[];
  /** True if an erasure left a hole: the text no longer matches the digest. */
  readonly damaged?: boolean;
}

/** The functions that the parts of one append are made with. */
export interface PartMaker {
  readonly sha256: Sha256;
  readonly newSalt: () => string;
}

// The names by which data refers to a part. A user's key that begins with `$` gets one more, so it is never a reference.
const refNames = ['$part', '$list', '$body', '$sealed'] as const;

/** Returns the name and digest of a reference, or undefined if a value is not one. */
export function asRef(
  value: JsonValue,
): { readonly name: (typeof refNames)[number]; readonly digest: Digest } | undefined {
  if (!isObject(value)) return undefined;
  for (const name of refNames) if (Object.hasOwn(value, name)) return { name, digest: value[name] as Digest };
  return undefined;
}

/** Returns whether skeleton text may contain a reference or an escaped key; false for nearly every event. */
export function mayHoldRefs(skeleton: string): boolean {
  return dollarKeyFrom(skeleton, 0) >= 0;
}

/**
 * Returns the next place of a quote before a dollar, or -1. Quotes are everywhere in JSON and dollars are rare, so looking
 * for the dollar is fifteen times as fast as looking for both.
 */
export function dollarKeyFrom(skeleton: string, from: number): number {
  for (let at = skeleton.indexOf('$', from); at >= 0; at = skeleton.indexOf('$', at + 1))
    if (at > 0 && skeleton.charCodeAt(at - 1) === quote) return at - 1;
  return -1;
}

const quote = 0x22;

/** Returns a copy with one more `$` before each key that begins with one. */
export function escapeKeys(value: JsonObject): JsonObject;
export function escapeKeys(value: JsonValue): JsonValue;
export function escapeKeys(value: JsonValue): JsonValue {
  return mapKeys(value, escapedKey);
}

/** Returns a key as a skeleton has it: with one `$` more if it begins with one. */
export function escapedKey(key: string): string {
  return key.startsWith('$') ? `$${key}` : key;
}

/** Returns a copy with one `$` less before each escaped key. References must have been resolved before. */
export function unescapeKeys(value: JsonValue): JsonValue {
  return mapKeys(value, (key) => (key.startsWith('$$') ? key.slice(1) : key));
}

/** Returns true if a key inside a value begins with `$`, so that it needs {@link escapeKeys}. Writing refuses deeper ones. */
export function holdsDollar(value: JsonValue, depth = 0): boolean {
  if (depth > limits.jsonDepthMax) return false;
  if (isArray(value)) return value.some((item) => holdsDollar(item, depth + 1));
  if (!isObject(value)) return false;
  for (const key of Object.keys(value)) {
    const held = value[key];
    if (key.charCodeAt(0) === dollar) return true;
    if (typeof held === 'object' && held !== null && holdsDollar(held, depth + 1)) return true;
  }
  return false;
}

const dollar = 0x24;

function mapKeys(value: JsonValue, rename: (key: string) => string): JsonValue {
  if (isArray(value)) return value.map((item) => mapKeys(item, rename));
  if (!isObject(value)) return value;
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) {
    const held = value[key];
    // A writer may pass undefined, which JSON leaves out.
    if (held !== undefined) setKey(copy, rename(key), mapKeys(held, rename));
  }
  return copy;
}

/** Returns the canonical text of a value with its `$` keys escaped. */
export function escapedText(value: JsonValue): string {
  const text = canonicalJson(value);
  return mayHoldRefs(text) ? canonicalJson(escapeKeys(value)) : text;
}

/** Returns a value as a reference to a part, or escaped and inline if it is small. */
export function valuePart(
  text: string,
  value: JsonValue,
  maker: PartMaker,
  bytesMin: number = limits.partBytesMin,
): { readonly held: JsonValue; readonly part?: PartInput } {
  if (text.length < bytesMin) return { held: mayHoldRefs(text) ? escapeKeys(value) : value };
  const part = new MadePart(maker.sha256, { kind: 'value', salt: null, text, refs: [] });
  return { held: { $part: part.digest }, part };
}

/** Returns a salted part over a string. */
export function saltedPart(
  kind: 'list' | 'body' | 'sealed',
  text: string,
  refs: readonly Digest[],
  maker: PartMaker,
): PartInput {
  return new MadePart(maker.sha256, { kind, salt: maker.newSalt(), text, refs });
}

/** A part whose digest was computed over its text here, so that it need not be computed again to check it. */
class MadePart implements PartInput {
  readonly digest: Digest;
  readonly kind: PartInput['kind'];
  readonly salt: string | null;
  readonly text: string;
  readonly refs: readonly Digest[];
  readonly #sha256: Sha256;

  constructor(sha256: Sha256, { kind, salt, text, refs }: Omit<PartInput, 'digest' | 'damaged'>) {
    this.digest = sha256(salt === null ? text : salt + text);
    this.kind = kind;
    this.salt = salt;
    this.text = text;
    this.refs = refs;
    this.#sha256 = sha256;
    Object.freeze(this);
  }

  static isMadeWith(sha256: Sha256, part: PartInput): boolean {
    return #sha256 in part && part.#sha256 === sha256;
  }
}

/** Returns true if the digest of a part was computed in this process, by this function. A copy of such a part is not. */
export function isMadeWith(sha256: Sha256, part: PartInput): boolean {
  return MadePart.isMadeWith(sha256, part);
}

/** A node of a linked list: the node before it, and the items it adds. */
export interface ListNode {
  readonly previous: Digest | null;
  /** Each item inline, as `{ $part }`, or as `{ $erased: true }` if it was erased. */
  readonly items: readonly JsonValue[];
}

/** A body as the difference from an earlier one. */
export interface BodyDelta {
  readonly base: Digest;
  readonly prefix: number;
  readonly suffix: number;
  readonly middle: string;
}

/** Returns the difference between two bodies; never splits a surrogate pair. */
export function bodyDelta(base: Digest, before: string, after: string): BodyDelta {
  const max = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < max && before.charCodeAt(prefix) === after.charCodeAt(prefix)) prefix++;
  if (prefix > 0 && isHigh(after.charCodeAt(prefix - 1))) prefix--;
  let suffix = 0;
  while (
    suffix < max - prefix &&
    before.charCodeAt(before.length - 1 - suffix) === after.charCodeAt(after.length - 1 - suffix)
  )
    suffix++;
  if (suffix > 0 && isLow(after.charCodeAt(after.length - suffix))) suffix--;
  return { base, prefix, suffix, middle: after.slice(prefix, after.length - suffix) };
}

/**
 * Applies differences to a string, one after the other. It keeps pieces until the end, so that a body that grew by a
 * thousand small changes is put together once, not a thousand times.
 */
export function applyDeltas(text: string, deltas: readonly BodyDelta[]): string {
  const pieces = [text];
  let length = text.length;
  for (const { prefix, suffix, middle } of deltas) {
    const end = cutEnd(pieces, suffix);
    cutEnd(pieces, length - suffix - prefix);
    pieces.push(middle, ...end);
    length = prefix + middle.length + suffix;
  }
  return pieces.join('');
}

/** Takes characters off the end of some pieces and returns them. */
function cutEnd(pieces: string[], count: number): string[] {
  const end: string[] = [];
  let left = count;
  while (left > 0) {
    const piece = pieces.pop();
    if (piece === undefined) break;
    if (piece.length > left) pieces.push(piece.slice(0, piece.length - left));
    end.push(piece.slice(Math.max(0, piece.length - left)));
    left -= Math.min(left, piece.length);
  }
  return end.reverse();
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/** Returns how many of these sizes fit into one answer; the first always does. */
export function fittingParts(sizes: readonly number[]): number {
  let bytes = 0;
  const end = sizes.findIndex((size, index) => {
    bytes += size;
    return index > 0 && bytes > limits.pageBytesMax;
  });
  return end === -1 ? sizes.length : end;
}
