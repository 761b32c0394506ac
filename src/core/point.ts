import { RepriseError } from './error.ts';
import { shownValue } from './known-keys.ts';

declare const seqBrand: unique symbol;
declare const digestBrand: unique symbol;

/** An event's place in a branch's raw history, from 1; as a point, 0 is the empty beginning. */
export type Seq = number & { readonly [seqBrand]: true };

/** A SHA-256 in lower-case hexadecimal. */
export type Digest = string & { readonly [digestBrand]: true };

/** A branch and a seq: "after event `seq`", which means the first `seq` events. */
export interface Point {
  readonly branch: string;
  readonly seq: Seq;
}

/** A stretch of raw history: `after` is not in it, `through` is. */
export interface SeqRange {
  readonly after: Seq;
  readonly through: Seq;
}

/** Returns a number as a seq, or throws unless it is a whole number from 0. */
export function seq(value: number): Seq {
  if (Number.isSafeInteger(value) && value >= 0) return value as Seq;
  throw new RepriseError(
    'point.out-of-range',
    `Cannot use ${shownValue(value)} as a seq: it is not a whole number from 0`,
    {
      hint: 'Seqs count events from 1; 0 is the empty beginning.',
    },
  );
}

/** The beginning of every history. */
export const beginning: Seq = 0 as Seq;

/** Returns the seq before a seq. */
export function previous(from: Seq): Seq {
  return (from - 1) as Seq;
}

/** Returns the seq that many places later. */
export function later(from: Seq, count: number): Seq {
  return (from + count) as Seq;
}

/** Returns the seq that many places earlier. */
export function earlier(from: Seq, count: number): Seq {
  return (from - count) as Seq;
}

/** Returns the smaller of two seqs. */
export function minSeq(a: Seq, b: Seq): Seq {
  return a < b ? a : b;
}

/** Returns the larger of two seqs. */
export function maxSeq(a: Seq, b: Seq): Seq {
  return a > b ? a : b;
}

/** Returns text as a digest, or throws unless it is one. */
export function digest(text: string): Digest {
  if (/^[0-9a-f]{64}$/.test(text)) return text as Digest;
  throw new RepriseError(
    'ref.invalid',
    `Cannot use ${JSON.stringify(text)} as a digest: it is not 64 hexadecimal digits`,
  );
}
