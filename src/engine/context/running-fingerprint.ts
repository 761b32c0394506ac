import type { FingerprintState } from '../../core/comparing/fingerprint.ts';
import type { Digest, Seq } from '../../core/point.ts';

/** The fold of the fingerprint of a branch up to a point, to go on from. */
export interface RunningFingerprint {
  readonly seq: Seq;
  /** The digest of the point: a session that was deleted and created again has a different one. */
  readonly digest: Digest;
  readonly value: FingerprintState;
  /** The session's count of erasures at that time: an erased payload counts differently. */
  readonly erasures: number;
}
