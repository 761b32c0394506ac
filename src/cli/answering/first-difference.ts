import { createFingerprint } from '../../core/comparing/fingerprint.ts';
import { refText } from '../../core/ref.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { branchNames, type Found } from '../context.ts';

// A reference that is not among the sessions last appended to is rather in another store.
const sessionsMax = 50;

/** Where a history begins to behave differently from the one it is held against. */
export interface Difference {
  /** The history that has the expected fingerprint, if this store has it. */
  readonly reference: string | null;
  /** The first event that is not as expected, as a ref: of the reference if only that did something, else of the history. */
  readonly at: string | null;
  /** The seq in `at`. */
  readonly seq: number | null;
  readonly type: string | null;
  readonly reason: string;
}

/** What a history is held against: a fingerprint, and where it was taken if that is known. */
export interface Expectation {
  readonly expected: string;
  readonly reference: string | undefined;
}

/**
 * Names the first difference. A fingerprint alone does not tell; but the history may have had it at an earlier point,
 * and the store may have the history it was taken from.
 */
export async function firstDifference(reprise: Reprise, place: Found, expectation: Expectation): Promise<Difference> {
  const own = await earlierPoint(place, expectation.expected);
  if (own !== undefined) return own;
  const reference = await referenceOf(reprise, expectation);
  if (reference !== undefined) return differenceFrom(reprise, place, reference);
  const reason = 'which cannot be named: no recent history of this store has the expected fingerprint';
  return { reference: null, at: null, seq: null, type: null, reason };
}

/** Whether the history was as expected up to some point, and what came after it. */
async function earlierPoint({ session, ref, point }: Found, expected: string): Promise<Difference | undefined> {
  const { initial, apply, finish } = createFingerprint(createNodePlatform().sha256);
  let state = initial();
  let before = 0;
  let isThere = finish(state) === expected;
  for await (const event of session.replay({ at: point })) {
    const counted = state.events;
    state = apply(state, event);
    if (isThere && state.events > counted) {
      const reference = refText({ session: session.id, branch: ref.branch, at: { kind: 'before', seq: event.seq } });
      const reason = `up to @${before} it is as expected`;
      const at = refText({ session: session.id, branch: ref.branch, at: { kind: 'seq', seq: event.seq } });
      return { reference, at, seq: event.seq, type: event.type, reason };
    }
    isThere = finish(state) === expected;
    before = event.seq;
  }
  return undefined;
}

async function referenceOf(reprise: Reprise, given: Expectation): Promise<string | undefined> {
  const { expected, reference } = given;
  if (reference !== undefined && (await hasFingerprint(reprise, reference, expected))) return reference;
  let left = sessionsMax;
  for await (const { session } of reprise.sessions()) {
    if (left-- <= 0) return undefined;
    for (const branch of await branchNames(await reprise.session(session))) {
      const ref = refText({ session, branch });
      if (await hasFingerprint(reprise, ref, expected)) return ref;
    }
  }
  return undefined;
}

async function hasFingerprint(reprise: Reprise, text: string, expected: string): Promise<boolean> {
  try {
    const { session, ...at } = await reprise.resolve(text);
    const point = refText({ session, ...at }).replace(/^[^/@]*\/?/, '');
    return (await (await reprise.session(session)).fingerprint(point)) === expected;
  } catch {
    // The history was kept in another store, or is gone.
    return false;
  }
}

async function differenceFrom(reprise: Reprise, { ref, session }: Found, reference: string): Promise<Difference> {
  const { pairs } = await reprise.diff(reference, refText({ ...ref, session: session.id }));
  const first = pairs.find((pair) => pair.kind !== 'equal');
  const isOfReference = first?.kind === 'onlyLeft';
  const seq = first === undefined ? null : 'right' in first ? first.right : first.left;
  const { session: id, branch } = isOfReference ? await reprise.resolve(reference) : { ...ref, session: session.id };
  const at = seq === null ? null : refText({ session: id, branch, at: { kind: 'seq', seq } });
  const reasons = { changed: 'which is not what the reference did', onlyRight: 'which the reference did not do' };
  const reason = isOfReference
    ? 'which only the reference did'
    : (reasons[first?.kind as keyof typeof reasons] ?? 'in the order of events');
  return { reference, at, seq, type: first?.type ?? null, reason };
}
