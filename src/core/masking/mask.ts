import type { JsonValue } from '../json.ts';
import type { Sha256 } from '../parts/digest.ts';

/** The ingredients of a mask key. */
export interface MaskKeyParts {
  readonly sha256: Sha256;
  /** A random text that is not in the store. */
  readonly key: string;
  /** The seed of the session: a different session gives the same secret a different mask. */
  readonly seed: string;
}

/** Hashes secrets into masks. The store alone is not enough to compute these hashes. */
export interface MaskKey {
  /** Names the key in every mask, and reveals nothing about a random key. */
  readonly id: string;
  /** Returns the hash of a secret. */
  readonly hashOf: (secret: string) => string;
}

const idUnits = 6;
const hashUnits = 8;

/** Makes the mask key of a session. */
export function createMaskKey({ sha256, key, seed }: MaskKeyParts): MaskKey {
  return {
    id: sha256(`reprise mask key\n${key}`).slice(0, idUnits),
    hashOf: (secret) => sha256(`${key}\n${sha256(`${key}\n${seed}\n${secret}`)}`).slice(0, hashUnits),
  };
}

/** Returns the mask of a secret: `[masked RULE 5e6f7a-1a2b3c4d]`, with the id of the key and the hash of the secret. */
export function maskOf({ id, hashOf }: MaskKey, rule: string, secret: string): string {
  return `[masked ${rule} ${id}-${hashOf(secret)}]`;
}

/** A mask in a string. */
export interface Mask {
  readonly start: number;
  readonly end: number;
  /** The id of its key. */
  readonly key: string;
  readonly hash: string;
}

/** The longest name of a rule. */
export const ruleNameUnitsMax = 100;

const maskStart = '[masked ';
const maskForm = /\[masked [A-Za-z0-9-]{1,100} ([0-9a-f]{6})-([0-9a-f]{8})\]/g;

/** Returns the masks in a string, in order. */
export function masksIn(text: string): readonly Mask[] {
  if (!text.includes(maskStart)) return [];
  return Array.from(text.matchAll(maskForm), (match) => {
    const [whole, key = '', hash = ''] = match;
    return { start: match.index, end: match.index + whole.length, key, hash };
  });
}

/** Returns true if a string begins with a mask, or with what looks like one. */
export function startsWithMask(text: string, at = 0): boolean {
  return text.startsWith(maskStart, at);
}

/** Returns true if a value contains a mask anywhere, so that the original value is lost. */
export function holdsMask(value: JsonValue | undefined): boolean {
  return value !== undefined && masksIn(JSON.stringify(value)).length > 0;
}
