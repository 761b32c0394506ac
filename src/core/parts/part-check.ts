import { RepriseError } from '../error.ts';
import { checkBytes } from '../limits.ts';
import type { Digest } from '../point.ts';
import { dataDigestOf, type Sha256 } from './digest.ts';
import { isMadeWith, type PartInput } from './parts.ts';

/** Refuses a part that is too large or does not match its digest. */
export function checkPart(part: PartInput, sha256: Sha256): void {
  checkBytes('payloadBytesMax', [part.text], 'store a part');
  if (isMadeWith(sha256, part)) return;
  // The digest of a delta is that of its body, which takes the base to compute.
  if (part.kind !== 'delta' && dataDigestOf(sha256, part.salt ?? '', part.text) !== part.digest)
    throw partDamaged(part.digest);
}

/** Returns the error for a part whose text does not match its digest. */
export function partDamaged(digest: Digest): RepriseError {
  return new RepriseError('part.damaged', `Cannot append: the part ${digest.slice(0, 12)}… does not match its digest`, {
    hint: 'Compute the digest over the salt and the text.',
    details: { digest },
  });
}
