import { createFingerprint } from '../../core/comparing/fingerprint.ts';
import type { Sha256 } from '../../core/parts/digest.ts';
import type { Digest } from '../../core/point.ts';
import { pointText, refText } from '../../core/ref.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { branchesOf } from '../branch-tree.ts';
import type { OpenRef } from '../open-ref.ts';

/** The fingerprint of a history, as `reprise fingerprint --json` prints it. */
export interface FingerprintAnswer {
  readonly ref: string;
  readonly fingerprint: string;
  readonly digest: Digest;
  /** Only with an expectation. */
  readonly expected?: string;
  readonly same?: boolean;
  /** Only where the fingerprint is not the expected one. */
  readonly difference?: Difference;
}

/** Where a history begins to behave differently from the one it is compared with. */
export interface Difference {
  /** The history that has the expected fingerprint; null if this store does not have it. */
  readonly reference: string | null;
  /** The first unexpected event, as a ref: of the reference if only the reference has it, else of the history. */
  readonly at: string | null;
  /** The seq in `at`. */
  readonly seq: number | null;
  readonly type: string | null;
  readonly reason: string;
}

/** The fingerprint a history should have, and where it was taken if that is known. */
export interface Expectation {
  readonly expected: string;
  readonly reference: string | undefined;
}

// A reference that is not among the sessions last appended to is probably in a different store.
const sessionsMax = 50;

/**
 * Finds the first difference from an expected fingerprint. A fingerprint alone does not show it. But the history may
 * have had that fingerprint at an earlier point, or the store may have the history it was taken from.
 */
export async function firstDifference(
  reprise: Reprise,
  sha256: Sha256,
  found: OpenRef,
  expectation: Expectation,
): Promise<Difference> {
  const own = await earlierPoint(sha256, found, expectation.expected);
  if (own !== undefined) return own;
  const reference = await referenceOf(reprise, expectation);
  if (reference !== undefined) return differenceFrom(reprise, found, reference);
  const reason = 'unknown: no recent history in this store has the expected fingerprint';
  return { reference: null, at: null, seq: null, type: null, reason };
}

/** Finds the last point at which the history was as expected, and the event after it. */
async function earlierPoint(
  sha256: Sha256,
  { session, ref, point }: OpenRef,
  expected: string,
): Promise<Difference | undefined> {
  const { initial, apply, finish } = createFingerprint(sha256);
  let state = initial();
  let before = 0;
  let isExpected = finish(state) === expected;
  for await (const event of session.at(point).replay()) {
    const counted = state.events;
    state = apply(state, event);
    if (isExpected && state.events > counted) {
      const { seq, type } = event;
      const reference = refText({ ...ref, at: { kind: 'before', seq } });
      const at = refText({ ...ref, at: { kind: 'seq', seq } });
      return { reference, at, seq, type, reason: `up to @${before} it is as expected` };
    }
    isExpected = finish(state) === expected;
    before = event.seq;
  }
  return undefined;
}

async function referenceOf(reprise: Reprise, { expected, reference }: Expectation): Promise<string | undefined> {
  if (reference !== undefined && (await hasFingerprint(reprise, reference, expected))) return reference;
  let left = sessionsMax;
  for await (const { session } of reprise.sessions()) {
    if (left-- <= 0) return undefined;
    for (const { branch } of await branchesOf(await reprise.session(session))) {
      const ref = refText({ session, branch });
      if (await hasFingerprint(reprise, ref, expected)) return ref;
    }
  }
  return undefined;
}

async function hasFingerprint(reprise: Reprise, text: string, expected: string): Promise<boolean> {
  try {
    const ref = await reprise.resolve(text);
    return (await (await reprise.session(ref.session)).at(pointText(ref)).fingerprint()) === expected;
  } catch {
    // The reference is in a different store, or was deleted.
    return false;
  }
}

async function differenceFrom(reprise: Reprise, { ref }: OpenRef, reference: string): Promise<Difference> {
  const { pairs } = await reprise.diff(reference, refText(ref));
  const first = pairs.find((pair) => pair.kind !== 'equal');
  if (first === undefined) return { reference, at: null, seq: null, type: null, reason: 'in the order of events' };
  const { type } = first;
  if (first.kind === 'onlyLeft') {
    const { session, branch } = await reprise.resolve(reference);
    const at = refText({ session, branch, at: { kind: 'seq', seq: first.left } });
    return { reference, at, seq: first.left, type, reason: 'only the reference has it' };
  }
  const at = refText({ ...ref, at: { kind: 'seq', seq: first.right } });
  const reason = first.kind === 'changed' ? 'the reference has a different one' : 'the reference does not have it';
  return { reference, at, seq: first.right, type, reason };
}
