import type { Sha256 } from '../core/digest.ts';
import { createFingerprint, type Fingerprint, type FingerprintState, fingerprintScheme } from '../core/fingerprint.ts';
import type { Projection } from '../core/projection.ts';

/** How a view behaved, as one text. See `createFingerprint` for what counts. */
export function fingerprintProjection(sha256: Sha256): Projection<FingerprintState, Fingerprint> {
  return { name: 'fingerprint', version: fingerprintScheme, history: 'view', ...createFingerprint(sha256) };
}
