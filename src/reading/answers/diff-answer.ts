import type { DiffPair, DiffPlace } from '../../core/comparing/diff.ts';
import type { StrictDiff, TypeMismatch } from '../../core/comparing/diff-strict.ts';
import type { ValueDiff } from '../../core/comparing/value-diff.ts';
import type { BeliefsDiff } from '../../core/fleet/beliefs-diff.ts';
import { given } from '../../core/json.ts';
import type { Point } from '../../core/point.ts';
import type { Comparison } from '../../engine/looking/compare.ts';
import { type Summary, summary } from '../../projections/summary.ts';
import type { OpenRef } from '../open-ref.ts';
import { type DiffHunk, pairHunks, readHunks } from './diff-hunks.ts';

/** The difference between two histories, as `reprise diff --json` prints it. */
export interface DiffAnswer {
  readonly identical: boolean;
  /** The last point both have in common; null if they are not related, or in a strict diff. */
  readonly forkPoint: Point | null;
  readonly divergedAt: DiffPlace | null;
  /** Null even in a strict diff, which does not look for it. */
  readonly sustainedAt: DiffPlace | null;
  readonly matched: number;
  readonly changed: number;
  readonly onlyLeft: number;
  readonly onlyRight: number;
  readonly hunks: readonly DifferingPair[];
  readonly states: Readonly<Record<string, ValueDiff>>;
  /** With `--beliefs`: how the beliefs differ. */
  readonly beliefs?: BeliefsDiff;
}

/** A pair of a diff that is not equal; in a strict diff a changed pair names both types. */
type DifferingPair = Exclude<DiffPair, { readonly kind: 'equal' }> | StrictPair;

/** Two events at the same position with different types. */
interface StrictPair extends TypeMismatch {
  readonly kind: 'changed';
}

/** Returns the JSON answer of a comparison, with at most `limit` differences. */
export function diffAnswer(found: Comparison, limit: number): DiffAnswer {
  const { identical, forkPoint, divergedAt, sustainedAt, matched, changed, onlyLeft, onlyRight, states } = found;
  const hunks = found.pairs.filter((pair) => pair.kind !== 'equal').slice(0, limit);
  const answer = {
    identical,
    forkPoint,
    divergedAt,
    sustainedAt,
    matched,
    changed,
    onlyLeft,
    onlyRight,
    hunks,
    states,
  };
  return { ...answer, ...given({ beliefs: found.beliefs }) };
}

/** Returns the JSON answer of a strict diff, with at most `limit` differences. */
export function strictDiffAnswer(found: StrictDiff, limit: number): DiffAnswer {
  const { identical, matched, typeMismatches, onlyLeft, onlyRight } = found;
  const [mismatch] = typeMismatches;
  const hunks: DifferingPair[] = [
    ...typeMismatches.map((pair) => ({ kind: 'changed' as const, ...pair })),
    ...onlyLeft.map(({ seq, type }) => ({ kind: 'onlyLeft' as const, type, left: seq })),
    ...onlyRight.map(({ seq, type }) => ({ kind: 'onlyRight' as const, type, right: seq })),
  ];
  const ends = { left: onlyLeft[0]?.seq ?? null, right: onlyRight[0]?.seq ?? null };
  const place: DiffPlace = mismatch === undefined ? ends : { left: mismatch.left, right: mismatch.right };
  return {
    identical,
    forkPoint: null,
    divergedAt: identical ? null : place,
    sustainedAt: null,
    matched,
    changed: typeMismatches.length,
    onlyLeft: onlyLeft.length,
    onlyRight: onlyRight.length,
    hunks: hunks.slice(0, limit),
    states: {},
  };
}

/** The parts of a diff that only people look at. */
export interface DiffDetails {
  readonly hunks: readonly DiffHunk[];
  /** The usage of each side. */
  readonly left: Summary;
  readonly right: Summary;
}

/** Reads the events of the first `limit` differences, each with `around` equal events on both sides. */
export async function readDiffDetails(
  { pairs }: Comparison,
  left: OpenRef,
  right: OpenRef,
  { limit, around }: { readonly limit: number; readonly around: number },
): Promise<DiffDetails> {
  return {
    hunks: await readHunks(pairHunks(pairs, limit, around), left, right),
    left: await left.session.at(left.point).fold(summary),
    right: await right.session.at(right.point).fold(summary),
  };
}
