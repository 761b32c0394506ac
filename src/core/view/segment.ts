import { beginning, later, maxSeq, minSeq, type Point, previous, type Seq, type SeqRange } from '../point.ts';
import type { Piece } from './piece.ts';
import { type History, type Segment, type View, type ViewPoint, viewAt } from './view.ts';

// Reading past a few unwanted events is cheaper than starting a new range.
const gapMax = 64;

/** Returns the segment that reads a range of a branch as it is stored. */
export function segmentOver({ branch, after, through }: SeqRange & { readonly branch: string }): Segment {
  return { branch, after, through, except: [], carried: false };
}

/** Returns the segment that reads the one event stored at a point. */
export function segmentAt({ branch, seq }: Point): Segment {
  return segmentOver({ branch, after: previous(seq), through: seq });
}

/** Returns the segment that reads every event a branch stores itself: those after its fork point. */
export function ownSegment({
  branch,
  parent,
  head,
}: {
  readonly branch: string;
  readonly parent?: Point;
  readonly head: Seq;
}): Segment {
  return segmentOver({ branch, after: parent?.seq ?? beginning, through: head });
}

/** Returns the segments that a store reads to produce a view, in view order. */
export function segmentsOf(view: View): Segment[] {
  return mergeGaps(view.pieces);
}

/** Returns the segments of the view at a point of a branch; undefined if the branch has not reached it. */
export function segmentsAt(history: History, { at = history.head }: Pick<ViewPoint, 'at'>): Segment[] | undefined {
  return at > history.head ? undefined : segmentsOf(viewAt(history, at));
}

function mergeGaps(pieces: readonly Piece[]): Segment[] {
  const segments: { branch: string; after: Seq; through: Seq; except: SeqRange[]; carried: boolean }[] = [];
  for (const piece of pieces) {
    const last = segments.at(-1);
    if (piece.kind === 'carried') {
      segments.push({ ...segmentAt(piece), except: [], carried: true });
    } else if (
      last !== undefined &&
      !last.carried &&
      last.branch === piece.branch &&
      piece.after >= last.through &&
      piece.after - last.through <= gapMax
    ) {
      if (piece.after > last.through) last.except.push({ after: last.through, through: piece.after });
      last.through = piece.through;
    } else {
      segments.push({ ...segmentOver(piece), except: [] });
    }
  }
  return segments;
}

/** Returns the ranges of a raw history, oldest first, each on the branch that stores it. */
export function rawPieces(history: History, at: Seq): Extract<Piece, { kind: 'range' }>[] {
  const pieces: Extract<Piece, { kind: 'range' }>[] = [];
  let branch = history.root;
  let after = beginning;
  for (const marker of history.markers) {
    if (marker.kind !== 'forked' || marker.seq > at) continue;
    const through = previous(marker.seq);
    if (through > after) pieces.push({ kind: 'range', branch, after, through });
    branch = marker.branch;
    after = through;
  }
  if (at > after) pieces.push({ kind: 'range', branch, after, through: at });
  return pieces;
}

/** Returns the segments of every stored event that leads to a point. */
export function rawSegments(history: History, at: Seq): Segment[] {
  return rawPieces(history, at).map(segmentOver);
}

/** Returns the branch that stores a seq of a history. */
export function branchOf(history: History, seq: Seq): string {
  let branch = history.root;
  for (const marker of history.markers) {
    if (marker.seq > seq) break;
    if (marker.kind === 'forked') branch = marker.branch;
  }
  return branch;
}

/** Returns whether a seq is in a range, which leaves out `after` and includes `through`. */
export function inRange(range: SeqRange, seq: Seq): boolean {
  return seq > range.after && seq <= range.through;
}

/** Cuts segments down to the seqs within a range. */
export function clipSegments(segments: readonly Segment[], { after, through }: SeqRange): Segment[] {
  return segments
    .map((segment) => ({ ...segment, after: maxSeq(segment.after, after), through: minSeq(segment.through, through) }))
    .filter((segment) => segment.through > segment.after);
}

/** Returns the part of some segments that comes before one of their events, in view order. */
export function segmentsBefore(segments: readonly Segment[], { branch, seq }: Point): Segment[] {
  const isHeld = (segment: Segment): boolean =>
    segment.branch === branch && inRange(segment, seq) && !segment.except.some((range) => inRange(range, seq));
  const index = segments.findLastIndex(isHeld);
  return segments
    .slice(0, index + 1)
    .map((segment, at) => (at === index ? { ...segment, through: previous(seq) } : segment))
    .filter((segment) => segment.through > segment.after);
}

/**
 * Returns the part of a longer view that follows a shorter one; undefined if it does not begin with the shorter one.
 */
export function restOf(longer: View, shorter: View): View | undefined {
  const rest: Piece[] = [...longer.pieces].reverse();
  for (const [index, piece] of shorter.pieces.entries()) {
    const held = rest.pop();
    if (held === undefined || held.branch !== piece.branch) return undefined;
    if (piece.kind === 'carried' || held.kind === 'carried') {
      if (piece.kind !== 'carried' || held.kind !== 'carried' || piece.seq !== held.seq) return undefined;
      continue;
    }
    if (piece.after !== held.after || piece.through > held.through) return undefined;
    if (piece.through === held.through) continue;
    if (index !== shorter.pieces.length - 1) return undefined;
    rest.push({ ...held, after: piece.through });
  }
  return { pieces: rest.reverse() };
}

/** Returns the part of a view that has these seqs and no others, in view order. */
export function viewOf(view: View, seqs: ReadonlySet<Seq>): View {
  const rising = [...seqs].sort((a, b) => a - b);
  const pieces = view.pieces.flatMap((piece): Piece[] => {
    if (piece.kind === 'carried') return seqs.has(piece.seq) ? [piece] : [];
    return rising.filter((seq) => inRange(piece, seq)).map((seq) => ({ ...piece, after: previous(seq), through: seq }));
  });
  return { pieces };
}

/** Compares two views: returns the seqs that only the first has and those that only the second has, rising. */
export function viewChanges(before: View, after: View): { readonly gone: Seq[]; readonly come: Seq[] } {
  const [was, is] = [rangesOf(before), rangesOf(after)];
  return { gone: subtract(was, is), come: subtract(is, was) };
}

/** Returns the seqs of a view as rising ranges that do not touch. */
function rangesOf(view: View): SeqRange[] {
  const ranges = view.pieces
    .map((piece) => (piece.kind === 'range' ? piece : { after: previous(piece.seq), through: piece.seq }))
    .sort((a, b) => a.after - b.after);
  const merged: { after: Seq; through: Seq }[] = [];
  for (const { after, through } of ranges) {
    const last = merged.at(-1);
    if (last !== undefined && last.through === after) last.through = through;
    else merged.push({ after, through });
  }
  return merged;
}

/** Returns every seq of the first list of ranges that is not in the second. */
function subtract(from: readonly SeqRange[], ranges: readonly SeqRange[]): Seq[] {
  const left: Seq[] = [];
  let next = 0;
  for (const { after, through } of from) {
    let at = later(after, 1);
    while (at <= through) {
      while ((ranges[next]?.through ?? at) < at) next++;
      const cut = ranges[next];
      if (cut !== undefined && cut.after < at) at = later(cut.through, 1);
      else {
        left.push(at);
        at = later(at, 1);
      }
    }
  }
  return left;
}
