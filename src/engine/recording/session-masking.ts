import type { JsonValue } from '../../core/json.ts';
import { createMaskKey } from '../../core/masking/mask.ts';
import { createMasker, type Masker } from '../../core/masking/masking.ts';
import { compareMasked, type Sameness } from '../../core/masking/same-value.ts';
import { createSecretFinder, type SecretFinder } from '../../core/masking/secret-finder.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import type { Engine } from '../context/engine.ts';
import { sessionRecord } from '../history/place.ts';

/** How a session is masked. */
export interface SessionMasking {
  /** Masks events; undefined if nothing is masked. */
  readonly mask: Masker | undefined;
  /** Compares stored arguments, which may contain masks, with arguments that do not. */
  readonly compare: (stored: JsonValue | undefined, fresh: JsonValue | undefined) => Sameness;
}

/**
 * Returns the masking of a session. Its key is not in the store; with the session's seed it gives a secret the same mask
 * throughout the session and a different one in the next.
 */
export async function sessionMasking(engine: Engine, session: string): Promise<SessionMasking> {
  if (engine.recording.masking === undefined) return unmasked;
  return maskingOf(engine, await sessionRecord(engine, session));
}

const unmasked: SessionMasking = { mask: undefined, compare: compareMasked };

/** Returns the masking of a session that was looked up. */
export function maskingOf({ recording, platform }: Engine, { seed }: Pick<SessionRecord, 'seed'>): SessionMasking {
  const { masking, maskKey } = recording;
  if (masking === undefined) return unmasked;
  const key = createMaskKey({ sha256: platform.sha256, key: maskKey(), seed });
  return {
    mask: createMasker(masking, { key, runWithin: platform.runWithin }),
    compare: (stored, fresh) => compareMasked(stored, fresh, key),
  };
}

/** Returns a finder of the secrets that the masking of a recorder would find; undefined if nothing is masked. */
export function secretFinder({ recording, platform }: Engine): SecretFinder | undefined {
  const { masking } = recording;
  return masking === undefined ? undefined : createSecretFinder(masking, { runWithin: platform.runWithin });
}
