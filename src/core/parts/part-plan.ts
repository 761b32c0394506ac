import type { Digest } from '../point.ts';
import { bodyText } from './decode.ts';
import { dataDigestOf, type Sha256 } from './digest.ts';
import { partDamaged } from './part-check.ts';
import type { PartInput } from './parts.ts';

/** A part as a session of the namespace stores it; the text may be left out unless the part is a delta. */
export interface StoredPart {
  readonly id: number;
  readonly kind: string;
  readonly salt: string | null;
  readonly text: string | null;
}

/** How a store keeps a part that the session does not have yet. */
export type PartPlan =
  | { readonly kind: 'add'; readonly part: PartInput }
  /** A part with a hole that an erasure left, for this session alone; other sessions keep theirs. */
  | { readonly kind: 'hole'; readonly part: PartInput }
  | { readonly kind: 'share'; readonly part: PartInput; readonly id: number }
  /** A different session stored it as a delta; the whole body serves both. */
  | { readonly kind: 'complete'; readonly part: PartInput; readonly id: number };

/** The lookups that planning the parts of an append needs. */
export interface PartLookup {
  /** Whether the session has a part already. */
  readonly isHeld: (digest: Digest) => boolean;
  /** Returns a part that any session of the namespace has, without a hole. */
  readonly stored: (digest: Digest) => StoredPart | undefined;
  /** Returns a part that the session has. */
  readonly part: (digest: Digest) => PartInput | undefined;
}

/**
 * Decides what to do with the parts of an append, and throws `part.damaged` before the store has written anything.
 *
 * @example
 * ```ts
 * const nothingHeld: PartLookup = { isHeld: () => false, stored: () => undefined, part: () => undefined };
 * const plans = planParts(nothingHeld, [], createNodePlatform().sha256); // []: there is nothing to add
 * ```
 */
export function planParts(source: PartLookup, parts: readonly PartInput[], sha256: Sha256): PartPlan[] {
  const plans = new Map<Digest, PartPlan>();
  for (const part of parts) {
    if (plans.has(part.digest) || source.isHeld(part.digest)) continue;
    plans.set(part.digest, planPart(source, part, parts, sha256));
  }
  return [...plans.values()];
}

/** Shares a part of a different session only if the writer gives its content: holding a part means being able to read it. */
function planPart(source: PartLookup, part: PartInput, given: readonly PartInput[], sha256: Sha256): PartPlan {
  if (part.damaged === true) return { kind: 'hole', part };
  const stored = source.stored(part.digest);
  if (stored === undefined) return { kind: 'add', part };
  const { id, kind, text, salt } = stored;
  if (part.kind !== 'delta') return { kind: kind === 'delta' ? 'complete' : 'share', part, id };
  if (text === part.text && salt === part.salt) return { kind: 'share', part, id };
  const body = bodyText(part, (digest) => given.find((held) => held.digest === digest) ?? source.part(digest));
  if (body === undefined || dataDigestOf(sha256, part.salt ?? '', body) !== part.digest) throw partDamaged(part.digest);
  // The base of the stored delta may be a part that this session does not have.
  if (kind === 'delta') return { kind: 'complete', part: { ...part, kind: 'body', text: body, refs: [] }, id };
  return { kind: 'share', part, id };
}
