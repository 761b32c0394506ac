import { canonicalJson } from '../canonical-json.ts';
import type { JsonValue } from '../json.ts';
import type { Sha256 } from '../parts/digest.ts';
import type { Digest, Seq } from '../point.ts';
import type { CodingRisk } from './coding.ts';
import type { CodingContext, Explanation } from './context.ts';
import type { StateRecord } from './record.ts';

/** The records of a coding session at a point, and the context that a model is shown of them. */
export interface CodingSnapshot {
  readonly records: readonly StateRecord[];
  readonly context: CodingContext;
  /** The hash of its content. */
  readonly hash: Digest;
}

/** How far our count of a request was from the provider's. */
export interface ProviderCount {
  /** The recorded call that carried a prepared context. */
  readonly call: Seq;
  /** The tokens of its whole request by our counter, and by the provider. */
  readonly counted: number;
  readonly provider: number;
  readonly difference: number;
}

/** Evidence about a context: why each record is in it or not, and everything that was set aside, as data. */
export interface CodingReceipt {
  readonly snapshotHash: Digest;
  readonly budgetTokens: number;
  readonly tokens: number;
  readonly overBy: number;
  readonly counter: string;
  readonly explained: readonly Explanation[];
  /** The quarantined risks. They are data, never instructions. */
  readonly quarantined: readonly CodingRisk[];
  /** Records that were dropped because there were too many. */
  readonly dropped: number;
  /** The provider's count of the last recorded call that carried a prepared context; null if there is none. */
  readonly providerCount: ProviderCount | null;
  /** The hash of its content. */
  readonly hash: Digest;
}

/**
 * Makes a snapshot. Its hash covers content alone: no seq, id, time or digest, so the same story recorded elsewhere gives
 * the same hash.
 */
export function snapshotOf(sha256: Sha256, records: readonly StateRecord[], context: CodingContext): CodingSnapshot {
  const content = { records: records.map(contentOf), context };
  return { records, context, hash: hashOf(sha256, content) };
}

/** Returns a record without the seqs it came from. */
function contentOf({ id, group, kind, status, trust, text }: StateRecord): Omit<StateRecord, 'source'> {
  return { id, group, kind, status, trust, text };
}

/** Makes a receipt. Its hash covers content alone, as that of the snapshot does. */
export function receiptOf(
  sha256: Sha256,
  { context, hash: snapshotHash }: CodingSnapshot,
  about: Pick<CodingReceipt, 'quarantined' | 'dropped' | 'providerCount'>,
): CodingReceipt {
  const { budgetTokens, tokens, overBy, counter, explained } = context;
  const content = { snapshotHash, budgetTokens, tokens, overBy, counter, explained, ...about };
  const { providerCount, quarantined } = about;
  const hashed = {
    ...content,
    quarantined: quarantined.map(({ title, content: held, source }) => ({ title, content: held, source })),
    providerCount: providerCount === null ? null : { ...providerCount, call: null },
  };
  return { ...content, hash: hashOf(sha256, hashed) };
}

/** Returns the hash of a value: the SHA-256 of its canonical JSON. */
export function hashOf(sha256: Sha256, value: unknown): Digest {
  return sha256(canonicalJson(value as JsonValue));
}
