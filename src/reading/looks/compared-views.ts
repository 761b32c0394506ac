import type { DiffCounts, DiffPair, DiffPlace } from '../../core/comparing/diff.ts';
import type { ValueDiff } from '../../core/comparing/value-diff.ts';
import { RepriseError } from '../../core/error.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { checkLimit, limits } from '../../core/limits.ts';
import type { Point, Seq } from '../../core/point.ts';
import type { Spending } from '../../core/recording/spending.ts';
import { refText } from '../../core/ref.ts';
import type { Comparison } from '../../engine/looking/compare.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { type Summary, summary } from '../../projections/summary.ts';
import { type OpenRef, openRef } from '../open-ref.ts';
import { cutValue } from './cut-value.ts';
import { type EventLine, eventLine, eventsAt } from './shown-events.ts';

/** How two views differ, without the pairs. */
export interface CompareAnswer extends Readonly<DiffCounts> {
  readonly left: CompareSide;
  readonly right: CompareSide;
  readonly identical: boolean;
  /** The last point both have in common; null if they are not related. */
  readonly forkPoint: Point | null;
  readonly divergedAt: DiffPlace | null;
  readonly sustainedAt: DiffPlace | null;
  readonly reconvergedAt: readonly DiffPlace[];
  /** Counts by event type. */
  readonly counts: Readonly<Record<string, Readonly<DiffCounts>>>;
  readonly states: Readonly<Record<string, ValueDiff>>;
  /** How many pairs there are, with each equal stretch as one. */
  readonly pairs: number;
}

/** One side of a comparison. */
interface CompareSide {
  readonly ref: string;
  readonly session: string;
  readonly branch: string;
  readonly summary: Summary;
}

/** A line of a comparison: a stretch that is equal, or one difference. */
export type ComparePair =
  | {
      readonly kind: 'equal';
      readonly count: number;
      /** The first and the last seq of the stretch. */
      readonly left: readonly [Seq, Seq];
      readonly right: readonly [Seq, Seq];
    }
  | {
      readonly kind: 'changed' | 'onlyLeft' | 'onlyRight';
      readonly left?: EventLine;
      readonly right?: EventLine;
      /** The fields that differ, cut if they are long. */
      readonly fields?: JsonValue;
    };

/** A comparison that was made, with its equal stretches folded. */
export interface FoldedComparison {
  readonly answer: CompareAnswer;
  readonly folded: readonly FoldedPair[];
  readonly sides: readonly [OpenRef, OpenRef];
}

type EqualStretch = Extract<ComparePair, { kind: 'equal' }>;
type FoldedPair = EqualStretch | Exclude<DiffPair, { kind: 'equal' }>;

/** Compares the views at two refs. Its pages are read from the result. */
export async function compareViews(
  reprise: Reprise,
  refs: { readonly left: string; readonly right: string },
  options: Parameters<Reprise['diff']>[2] = {},
): Promise<FoldedComparison> {
  const sides = [await openRef(reprise, refs.left), await openRef(reprise, refs.right)] as const;
  const found = (await reprise.diff(sides[0].ref, sides[1].ref, options)) as Comparison;
  const folded = foldPairs(found.pairs);
  const { identical, forkPoint, divergedAt, sustainedAt, reconvergedAt, counts, states } = found;
  const { matched, changed, onlyLeft, onlyRight } = found;
  const answer: CompareAnswer = {
    left: await sideOf(sides[0]),
    right: await sideOf(sides[1]),
    identical,
    forkPoint,
    divergedAt,
    sustainedAt,
    reconvergedAt: reconvergedAt.slice(0, limits.shownRowsMax),
    matched,
    changed,
    onlyLeft,
    onlyRight,
    counts,
    states,
    pairs: folded.length,
  };
  return { answer, folded, sides };
}

async function sideOf({ session, ref, point }: OpenRef): Promise<CompareSide> {
  return { ref: refText(ref), session: session.id, branch: ref.branch, summary: await session.at(point).fold(summary) };
}

function foldPairs(pairs: readonly DiffPair[]): FoldedPair[] {
  const folded: FoldedPair[] = [];
  for (const pair of pairs) {
    const last = folded.at(-1);
    if (pair.kind !== 'equal') folded.push(pair);
    else if (last?.kind === 'equal')
      folded[folded.length - 1] = {
        ...last,
        count: last.count + 1,
        left: [last.left[0], pair.left],
        right: [last.right[0], pair.right],
      };
    else folded.push({ kind: 'equal', count: 1, left: [pair.left, pair.left], right: [pair.right, pair.right] });
  }
  return folded;
}

/** Characters of the changed fields of one pair. */
const fieldsMax = 16_384;

/** Reads a page of the pairs of a comparison, each with its events in a line. */
export async function comparedPage(
  { folded, sides }: FoldedComparison,
  offset: number,
): Promise<{ readonly pairs: readonly ComparePair[]; readonly next: number | undefined }> {
  const page = folded.slice(offset, offset + limits.shownRowsMax);
  const lines = [await linesOf(sides[0], page, 'left'), await linesOf(sides[1], page, 'right')] as const;
  const pairs = page.map((pair): ComparePair => {
    if (pair.kind === 'equal') return pair;
    const left = 'left' in pair ? lines[0].get(pair.left) : undefined;
    const right = 'right' in pair ? lines[1].get(pair.right) : undefined;
    const fields = pair.kind === 'changed' && pair.fields !== undefined ? shownFields(pair.fields) : undefined;
    return { kind: pair.kind, ...given({ left, right, fields }) };
  });
  const next = offset + page.length;
  return { pairs, next: next < folded.length ? next : undefined };
}

function shownFields(fields: ValueDiff): JsonValue {
  return cutValue(fields as unknown as JsonValue, { text: fieldsMax, whole: fieldsMax }).value;
}

async function linesOf(
  side: OpenRef,
  page: readonly FoldedPair[],
  name: 'left' | 'right',
): Promise<ReadonlyMap<number, EventLine>> {
  const seqs = page.flatMap((pair) => {
    if (pair.kind === 'equal') return [];
    const seq = name === 'left' ? ('left' in pair ? pair.left : undefined) : 'right' in pair ? pair.right : undefined;
    return seq === undefined ? [] : [seq];
  });
  const events = await eventsAt(side.session, side.ref.branch, seqs);
  return new Map(events.map((event) => [event.seq, eventLine(event)]));
}

/** A branch in a table of several. */
export interface CompareRow {
  readonly ref: string;
  readonly session: string;
  readonly branch: string;
  readonly outcome: string | null;
  readonly turns: number;
  readonly events: number;
  readonly usage: Spending;
  readonly durationMs: number | null;
  /** Where it first differs from the first row; null for the first row, and if it does not differ. */
  readonly divergedAt: DiffPlace | null;
  /** Whether it is equal to the first row. */
  readonly identical: boolean;
}

/** Compares two to eight refs: a row for each, compared with the first. */
export async function compareTable(reprise: Reprise, refs: readonly string[]): Promise<CompareRow[]> {
  checkLimit('comparedRefsMax', refs.length, 'compare so many refs at once');
  if (refs.length < 2)
    throw new RepriseError('option.invalid', 'Cannot compare one ref', { hint: 'Name at least two refs.' });
  const open: OpenRef[] = [];
  for (const ref of refs) open.push(await openRef(reprise, ref));
  const [first] = open as [OpenRef];
  const rows: CompareRow[] = [];
  for (const side of open) {
    const { ref, session, branch, summary: held } = await sideOf(side);
    const found = side === first ? undefined : ((await reprise.diff(first.ref, side.ref)) as Comparison);
    const { outcome, turns, events, spending: usage, durationMs } = held;
    const about = { ref, session, branch, outcome, turns, events, usage, durationMs };
    rows.push({ ...about, divergedAt: found?.divergedAt ?? null, identical: found?.identical ?? true });
  }
  return rows;
}
