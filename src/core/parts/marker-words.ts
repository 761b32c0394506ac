import { isObject, type JsonObject, type JsonValue, valueAt } from '../json.ts';
import { limits } from '../limits.ts';
import type { Digest } from '../point.ts';
import { storedJson } from './decode.ts';
import { asRef, escapedKey } from './parts.ts';

/** Words of a person in a marker, by the keys that lead to them. */
export interface MarkerWords {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/** Returns the words of people in a marker, those that an erasure would look for: its reason and the values of its metadata. */
export function wordsIn({ reason, metadata }: JsonObject): readonly MarkerWords[] {
  const values = isObject(metadata) ? Object.entries(metadata) : [];
  return [
    ...(reason === undefined ? [] : [{ path: ['reason'], value: reason }]),
    ...values.map(([key, value]) => ({ path: ['metadata', key], value })),
  ].filter(({ value }) => holdsText(value));
}

function holdsText(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.length >= limits.erasableTextMin;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsText);
}

/** Returns the digest of the part in which a marker's skeleton seals the value at a path; undefined if it is inline. */
export function sealedAt(skeleton: string, path: readonly string[]): Digest | undefined {
  const ref = asRef(valueAt(storedJson(skeleton), path.map(escapedKey)) ?? null);
  return ref?.name === '$sealed' ? ref.digest : undefined;
}
