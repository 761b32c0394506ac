import { columnFlags } from '../../../src/core/session/event-columns.ts';
import type { EventIndex } from '../history/event-index.ts';

/** A stretch of events that is shown as one line. */
export interface Fold {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Why: it says nothing on its own, or it left the view. */
  readonly why: 'noise' | 'outside';
}

/** The rows of a list: a seq, or for a fold its first seq below zero. */
export interface ListRows {
  readonly rows: Int32Array;
  readonly folds: ReadonlyMap<number, Fold>;
  /** How many events match. */
  readonly matched: number;
}

/** The choices of a list. */
export interface ListChoice {
  readonly raw: boolean;
  readonly isMatch: ((seq: number) => boolean) | undefined;
  /** First seqs of folds that were opened. */
  readonly opened: ReadonlySet<number>;
}

/** The fewest like events that are worth a fold. */
const foldMin = 3;

/** Returns the rows of a history. With a filter only what matches is there; without one, noise folds to a line. */
export function listRows(index: EventIndex, { raw, isMatch, opened }: ListChoice): ListRows {
  const rows: number[] = [];
  const folds = new Map<number, Fold>();
  let matched = 0;
  for (let seq = 1; seq <= index.head; ) {
    if (isMatch !== undefined) {
      if (index.has(seq) && (raw || index.isInView(seq) || index.hasFlag(seq, 'marker')) && isMatch(seq)) {
        rows.push(seq);
        matched++;
      }
      seq++;
      continue;
    }
    const fold = foldAt(index, seq, raw);
    if (fold === undefined) {
      rows.push(seq++);
      matched++;
      continue;
    }
    folds.set(seq, fold);
    rows.push(-seq);
    if (opened.has(seq)) for (let at = fold.from; at <= fold.to; at++) rows.push(at);
    matched += fold.count;
    seq = fold.to + 1;
  }
  return { rows: new Int32Array(rows), folds, matched };
}

/** Returns the fold that begins at a seq. Errors are never folded. */
function foldAt(index: EventIndex, seq: number, raw: boolean): Fold | undefined {
  const kind = foldKind(index, seq, raw);
  if (kind === undefined) return undefined;
  let to = seq;
  while (to < index.head && foldKind(index, to + 1, raw) === kind) to++;
  const count = to - seq + 1;
  return kind === 'noise' && count < foldMin ? undefined : { from: seq, to, count, why: kind };
}

function foldKind(index: EventIndex, seq: number, raw: boolean): Fold['why'] | undefined {
  if (!index.has(seq)) return undefined;
  const flags = index.columns.flags[seq] ?? 0;
  if (!raw && !index.isInView(seq) && (flags & columnFlags.marker) === 0) return 'outside';
  return (flags & (columnFlags.noise | columnFlags.error)) === columnFlags.noise ? 'noise' : undefined;
}

/** Returns the row of an event, or of the fold that contains it. */
export function rowOfSeq({ rows, folds }: ListRows, seq: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (Math.abs(rows[middle] ?? 0) <= seq) low = middle;
    else high = middle - 1;
  }
  const found = rows[low] ?? 0;
  if (found === seq) return low;
  const fold = folds.get(-found);
  return fold !== undefined && seq <= fold.to ? low : found > 0 || fold !== undefined ? low : -1;
}

const depthMax = 4;

/** Returns how deep each event is under its causes, by seq; the end of a call is as deep as its start. */
export function depthsOf(index: EventIndex): Uint8Array {
  const depths = new Uint8Array(index.head + 1);
  const { cause, end } = index.columns;
  for (let seq = 1; seq <= index.head; seq++) {
    const from = cause[seq] ?? 0;
    if (from === 0 || from >= seq) continue;
    const depth = depths[from] ?? 0;
    depths[seq] = end[from] === seq ? depth : Math.min(depthMax, depth + 1);
  }
  return depths;
}
