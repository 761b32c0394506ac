import {
  createFingerprint,
  type Fingerprint,
  type FingerprintState,
  fingerprintScheme,
} from '../core/comparing/fingerprint.ts';
import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import type { Sha256 } from '../core/parts/digest.ts';

/**
 * Returns a projection that folds a view into its fingerprint. See `createFingerprint` for what counts.
 *
 * @example
 * ```ts
 * const { sha256 } = createNodePlatform();
 * const value = await session.fold(fingerprintProjection(sha256)); // what session.fingerprint() gives
 * ```
 */
export function fingerprintProjection(sha256: Sha256): Projection<FingerprintState, Fingerprint> {
  return shippedProjection({
    name: 'fingerprint',
    version: `${fingerprintScheme} 1`,
    history: 'view',
    ...createFingerprint(sha256),
  });
}
