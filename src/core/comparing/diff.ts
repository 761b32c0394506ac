import { itemAt } from '../item-at.ts';
import { limits } from '../limits.ts';
import type { Seq } from '../point.ts';
import { createAligner, type Gap, tokensOf } from './diff-align.ts';
import { changedFields, type DiffEvent } from './diff-describe.ts';
import type { ValueDiff } from './value-diff.ts';

/** One line of an aligned diff. */
export type DiffPair =
  | { readonly kind: 'equal'; readonly type: string; readonly left: Seq; readonly right: Seq }
  | {
      readonly kind: 'changed';
      readonly type: string;
      readonly left: Seq;
      readonly right: Seq;
      /** The fields that differ; left out if the events were not kept, or past `diffDetailsMax`. */
      readonly fields?: ValueDiff;
    }
  | { readonly kind: 'onlyLeft'; readonly type: string; readonly left: Seq }
  | { readonly kind: 'onlyRight'; readonly type: string; readonly right: Seq };

/** A position in both histories: the next event of each, null if a history has ended. */
export interface DiffPlace {
  readonly left: Seq | null;
  readonly right: Seq | null;
}

/** Counts of each kind of pair. */
export interface DiffCounts {
  matched: number;
  changed: number;
  onlyLeft: number;
  onlyRight: number;
}

/** Two histories, aligned by how they behaved. */
export interface HistoryDiff extends Readonly<DiffCounts> {
  readonly identical: boolean;
  /** Every event of both sides, once, in order. */
  readonly pairs: readonly DiffPair[];
  /** Where they first differ; null if they do not. */
  readonly divergedAt: DiffPlace | null;
  /**
   * Where they part for good: the first difference after which there are never again `sustainedEvents` equal events in a
   * row. Null if they do not differ, or came back together and stayed so.
   */
  readonly sustainedAt: DiffPlace | null;
  /** Where they came back together: the start of each run of at least `sustainedEvents` equal events. */
  readonly reconvergedAt: readonly DiffPlace[];
  /** Counts by event type. */
  readonly counts: Readonly<Record<string, Readonly<DiffCounts>>>;
}

/** How to compare two histories. */
export interface DiffOptions {
  /** How many equal events in a row count as being together again; 3 if left out. */
  readonly sustainedEvents?: number;
}

/** How many equal events in a row count as being together again. */
const sustainedEventsDefault = 3;

/** Aligns two histories by behaviour, and finds where they part and where they come together again. */
export function diffHistories(
  left: readonly DiffEvent[],
  right: readonly DiffEvent[],
  options: DiffOptions = {},
): HistoryDiff {
  const matches = matchEvents(left, right);
  const pairs = pairUp(left, right, matches);
  const sustained = Math.max(1, options.sustainedEvents ?? sustainedEventsDefault);
  return { ...countPairs(pairs), pairs, ...placesOf(left, right, pairs, sustained) };
}

/** Returns, for every event on the left, the index of its counterpart on the right, or -1. */
function matchEvents(left: readonly DiffEvent[], right: readonly DiffEvent[]): Int32Array {
  const matches = new Int32Array(left.length).fill(-1);
  const middle = trimEnds(left, right, matches);
  const [a, b] = [left.slice(...middle.left), right.slice(...middle.right)];
  if (a.length === 0 || b.length === 0) return matches;
  // A tie goes to one side. Content decides which, so that diff(b, a) mirrors diff(a, b).
  const isSwapped = itemAt(a, 0).hash > itemAt(b, 0).hash;
  const found = isSwapped ? matchInOrder(b, a) : matchInOrder(a, b);
  for (let index = 0; index < found.length; index++) {
    const match = found[index] ?? -1;
    if (match < 0) continue;
    const [l, r] = isSwapped ? [match, index] : [index, match];
    matches[middle.left[0] + l] = middle.right[0] + r;
  }
  return matches;
}

/** Matches the equal events at both ends, which is most of most histories, and returns the gap between them. */
function trimEnds(left: readonly DiffEvent[], right: readonly DiffEvent[], matches: Int32Array): Gap {
  const end = Math.min(left.length, right.length);
  let start = 0;
  while (start < end && itemAt(left, start).hash === itemAt(right, start).hash) matches[start] = start++;
  let [l, r] = [left.length, right.length];
  while (l > start && r > start && itemAt(left, l - 1).hash === itemAt(right, r - 1).hash) matches[--l] = --r;
  return { left: [start, l], right: [start, r] };
}

/** Aligns by content first, and then by slot in the gaps between equal events. */
function matchInOrder(left: readonly DiffEvent[], right: readonly DiffEvent[]): Int32Array {
  const matches = new Int32Array(left.length).fill(-1);
  const whole: Gap = { left: [0, left.length], right: [0, right.length] };
  createAligner(tokensOf(left, right, hashOf))(whole, matches);
  const gaps = gapsOf(matches, right.length);
  if (gaps.length === 0) return matches;
  const alignSlots = createAligner(tokensOf(left, right, slotOf));
  for (const gap of gaps) alignSlots(gap, matches);
  return matches;
}

const hashOf = ({ hash }: DiffEvent): string => hash;
const slotOf = ({ slot }: DiffEvent): string => slot;

/** Returns the stretches between matches in which both sides have events. */
function gapsOf(matches: Int32Array, rightLength: number): Gap[] {
  const gaps: Gap[] = [];
  let [l, r] = [0, 0];
  for (let index = 0; index <= matches.length; index++) {
    const match = index === matches.length ? rightLength : (matches[index] ?? -1);
    if (match < 0) continue;
    if (index > l && match > r) gaps.push({ left: [l, index], right: [r, match] });
    l = index + 1;
    r = match + 1;
  }
  return gaps;
}

function pairUp(left: readonly DiffEvent[], right: readonly DiffEvent[], matches: Int32Array): DiffPair[] {
  const pairs: DiffPair[] = [];
  let details = 0;
  let r = 0;
  const skipRight = (end: number): void => {
    for (; r < end; r++) pairs.push({ kind: 'onlyRight', type: itemAt(right, r).type, right: itemAt(right, r).seq });
  };
  for (let l = 0; l < left.length; l++) {
    const match = matches[l] ?? -1;
    if (match < 0) {
      pairs.push({ kind: 'onlyLeft', type: itemAt(left, l).type, left: itemAt(left, l).seq });
      continue;
    }
    skipRight(match);
    const pair = pairOf(itemAt(left, l), itemAt(right, r++), details < limits.diffDetailsMax);
    if (pair.kind === 'changed') details++;
    pairs.push(pair);
  }
  skipRight(right.length);
  return pairs;
}

function pairOf(left: DiffEvent, right: DiffEvent, isDetailed: boolean): DiffPair {
  if (left.hash === right.hash) return { kind: 'equal', type: left.type, left: left.seq, right: right.seq };
  const pair = { kind: 'changed', type: left.type, left: left.seq, right: right.seq } as const;
  if (!isDetailed || left.event === undefined || right.event === undefined) return pair;
  return { ...pair, fields: changedFields(left.event, right.event) };
}

const countOf = { equal: 'matched', changed: 'changed', onlyLeft: 'onlyLeft', onlyRight: 'onlyRight' } as const;

function countPairs(
  pairs: readonly DiffPair[],
): DiffCounts & { readonly identical: boolean; readonly counts: Record<string, DiffCounts> } {
  const total: DiffCounts = { matched: 0, changed: 0, onlyLeft: 0, onlyRight: 0 };
  const byType = new Map<string, DiffCounts>();
  for (const pair of pairs) {
    let ofType = byType.get(pair.type);
    if (ofType === undefined) byType.set(pair.type, (ofType = { matched: 0, changed: 0, onlyLeft: 0, onlyRight: 0 }));
    total[countOf[pair.kind]]++;
    ofType[countOf[pair.kind]]++;
  }
  return { ...total, identical: total.matched === pairs.length, counts: Object.fromEntries(byType) };
}

type Places = Pick<HistoryDiff, 'divergedAt' | 'sustainedAt' | 'reconvergedAt'>;

function placesOf(
  left: readonly DiffEvent[],
  right: readonly DiffEvent[],
  pairs: readonly DiffPair[],
  sustained: number,
): Places {
  let [l, r, row] = [0, 0, 0];
  let divergedAt: DiffPlace | null = null;
  let sustainedAt: DiffPlace | null = null;
  let rowAt: DiffPlace = { left: null, right: null };
  const reconvergedAt: DiffPlace[] = [];
  for (const pair of pairs) {
    if (pair.kind === 'equal') {
      if (row++ === 0) rowAt = { left: pair.left, right: pair.right };
      if (row === sustained && divergedAt !== null) {
        reconvergedAt.push(rowAt);
        sustainedAt = null;
      }
    } else {
      row = 0;
      const place = { left: left[l]?.seq ?? null, right: right[r]?.seq ?? null };
      divergedAt ??= place;
      sustainedAt ??= place;
    }
    if (pair.kind !== 'onlyRight') l++;
    if (pair.kind !== 'onlyLeft') r++;
  }
  return { divergedAt, sustainedAt, reconvergedAt };
}
