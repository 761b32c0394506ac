import { RepriseError } from '../core/error.ts';
import type { Digest, Seq } from '../core/point.ts';

/** Returns a whole number as the wire carries it. */
export function toWhole(value: number): bigint {
  if (Number.isSafeInteger(value)) return BigInt(value);
  throw notWhole(String(value));
}

/** Returns a whole number of the wire; refuses one that a JavaScript number cannot carry exactly. */
export function fromWhole(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw notWhole(String(value));
}

/** Returns an optional whole number as the wire carries it. */
export function toWholeOr(value: number | null | undefined): bigint | undefined {
  return value === undefined || value === null ? undefined : toWhole(value);
}

/** Returns an optional whole number of the wire. */
export function fromWholeOr(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : fromWhole(value);
}

/** Returns a seq of the wire. */
export function seqFrom(value: bigint): Seq {
  return fromWhole(value) as Seq;
}

/** Returns an optional seq of the wire. */
export function seqFromOr(value: bigint | undefined): Seq | undefined {
  return value === undefined ? undefined : seqFrom(value);
}

/** Returns seqs of the wire. */
export function seqsFrom(values: readonly bigint[]): Seq[] {
  return values.map(seqFrom);
}

/** Returns a digest of the wire. A store finds nothing under a string that is not a digest. */
export function digestFrom(text: string): Digest {
  return text as Digest;
}

/** Returns digests of the wire. */
export function digestsFrom(texts: readonly string[]): Digest[] {
  return texts.map(digestFrom);
}

function notWhole(shown: string): RepriseError {
  return new RepriseError(
    'option.invalid',
    `Cannot send ${shown}: it is not a whole number that every side can carry`,
    {
      hint: 'Use a whole number of at most 2^53 - 1.',
    },
  );
}
