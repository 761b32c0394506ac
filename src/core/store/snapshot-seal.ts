import { canonicalJson } from '../canonical-json.ts';
import type { Sha256 } from '../parts/digest.ts';
import type { Snapshot } from './snapshot-key.ts';

/** The length of a checksum: 64 hexadecimal digits. */
const sumLength = 64;

/**
 * Returns the text of a snapshot: its value behind a checksum of the value, its key and its point. A value that was
 * damaged, or moved to a different point or projection, no longer matches. It finds damage, not a forger: anyone who can
 * write the row can write the checksum, too.
 */
export function sealValue(sha256: Sha256, place: Omit<Snapshot, 'value' | 'branch'>, value: string): string {
  return `${sumOf(sha256, place, value)}\n${value}`;
}

/** Returns the value of a snapshot; undefined if it has no checksum or does not match it. */
export function openValue(sha256: Sha256, snapshot: Snapshot): string | undefined {
  if (!isSealed(snapshot)) return undefined;
  const value = snapshot.value.slice(sumLength + 1);
  return snapshot.value.slice(0, sumLength) === sumOf(sha256, snapshot, value) ? value : undefined;
}

/** Returns true if a snapshot has a checksum. Early files have snapshots without one; they are not read. */
export function isSealed({ value }: Pick<Snapshot, 'value'>): boolean {
  return value[sumLength] === '\n';
}

// Names of sessions and branches are left out, as in every digest: the digest of the point says more.
function sumOf(
  sha256: Sha256,
  { digest, seq, projection, version, upcasts, erasures }: Omit<Snapshot, 'value' | 'branch'>,
  value: string,
): string {
  return sha256(`${canonicalJson(['snapshot', digest, seq, projection, version, upcasts, erasures])}\n${value}`);
}
