import { beginning, later, previous, type Seq, type SeqRange } from '../point.ts';
import { type EditMarker, isEdit, type Marker } from './marker.ts';
import type { Piece } from './piece.ts';
import { Pieces } from './view-pieces.ts';

/**
 * Everything about a branch that decides its views: the root branch, every structural event that leads to its head (by
 * rising seq, with those of ancestors up to the fork points), and the head itself.
 */
export interface History {
  /** The branch the session began with. */
  readonly root: string;
  readonly markers: readonly Marker[];
  readonly head: Seq;
}

/** The effective history at a point: what is left after structural events are applied. */
export interface View {
  readonly pieces: readonly Piece[];
}

/** The unit that a store reads: stored events of one branch in order, without the excepted ranges. */
export interface Segment extends SeqRange {
  readonly branch: string;
  readonly except: readonly SeqRange[];
  /** Whether this is the one-event segment of a marker that carries the event. */
  readonly carried: boolean;
}

/** A view named by its point: the store works out its segments itself. */
export interface ViewPoint {
  readonly branch: string;
  /** The head of the branch if left out. */
  readonly at?: Seq;
}

/** A view as a store takes it: its segments, or its point. */
export type AskedView = readonly Segment[] | ViewPoint;

/** A raw history as an immutable list that grows at the end: a rewind returns to an earlier list. */
interface Script {
  readonly before: Script | undefined;
  readonly item: Marker | (SeqRange & { readonly kind: 'range'; readonly branch: string });
}

/** Returns the raw history after rewinds to a seq were applied; every other marker is still in it. */
function scriptAt(history: History, at: Seq): Script | undefined {
  const saved: { readonly seq: Seq; readonly branch: string; readonly script: Script | undefined }[] = [
    { seq: beginning, branch: history.root, script: undefined },
  ];
  const upTo = (seq: Seq): Script | undefined => {
    const base = saved[lastAtOrBefore(saved, seq)] as (typeof saved)[number];
    if (base.seq === seq) return base.script;
    return { before: base.script, item: { kind: 'range', branch: base.branch, after: base.seq, through: seq } };
  };
  for (const marker of history.markers) {
    if (marker.seq > at) break;
    const before = upTo(previous(marker.seq));
    const script = marker.kind === 'rewound' ? upTo(marker.to) : isEdit(marker) ? { before, item: marker } : before;
    saved.push({ seq: marker.seq, branch: marker.branch, script });
  }
  return upTo(at);
}

function lastAtOrBefore(list: readonly { readonly seq: Seq }[], seq: Seq): number {
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((list[middle]?.seq ?? beginning) <= seq) low = middle;
    else high = middle - 1;
  }
  return low;
}

function itemsOf(script: Script | undefined): Script['item'][] {
  const items: Script['item'][] = [];
  for (let node = script; node !== undefined; node = node.before) items.push(node.item);
  return items.reverse();
}

/** Returns the markers in effect by seq, and which of them a later, live revert has undone. */
function effectOf(items: readonly Script['item'][]): { readonly live: Map<Seq, EditMarker>; readonly dead: Set<Seq> } {
  const live = new Map<Seq, EditMarker>();
  for (const item of items) if (item.kind !== 'range' && isEdit(item)) live.set(item.seq, item);
  const dead = new Set<Seq>();
  for (const marker of [...live.values()].reverse()) {
    if (marker.kind !== 'reverted' || dead.has(marker.seq)) continue;
    for (const target of marker.seqs) if (live.has(target)) dead.add(target);
  }
  return { live, dead };
}

/** Returns the effective history at a point of a branch. */
export function viewAt(history: History, at: Seq): View {
  const items = itemsOf(scriptAt(history, at));
  const { live, dead } = effectOf(items);
  const pieces = new Pieces();
  for (const item of items) {
    if (item.kind === 'range') pieces.addRange(item);
    else if (!dead.has(item.seq)) applyMarker(pieces, item, live);
  }
  return { pieces: pieces.list() };
}

/** Returns the stored events that led to a view, as they were recorded: without rewound events, with edited ones. */
export function recordedAt(history: History, at: Seq): View {
  const items = itemsOf(scriptAt(history, at));
  const { dead } = effectOf(items);
  const pieces = new Pieces();
  for (const item of items) {
    if (item.kind === 'range') pieces.addRange(item);
    else if (item.kind === 'rewoundToTurn' && !dead.has(item.seq)) pieces.dropRanges(item.dropped);
  }
  return { pieces: pieces.list() };
}

function applyMarker(pieces: Pieces, marker: Marker, live: ReadonlyMap<Seq, EditMarker>): void {
  switch (marker.kind) {
    case 'replaced':
      return pieces.replace(marker);
    case 'inserted':
      return pieces.insert(marker);
    case 'reverted':
      for (const target of marker.seqs) if (!live.has(target)) pieces.drop(target);
      return;
    case 'rewoundToTurn':
      return pieces.dropRanges(marker.dropped);
    case 'rewound':
    case 'forked':
    case 'erased':
      return;
  }
}

/** Finds the event of a view that a seq names: its own branch and seq, and whether a marker carries it. */
export function entryOf(
  view: View,
  seq: Seq,
):
  | { readonly branch: string; readonly seq: Seq; readonly carried: boolean; readonly answers: readonly Seq[] }
  | undefined {
  for (const piece of view.pieces) {
    if (piece.kind === 'range') {
      if (seq > piece.after && seq <= piece.through)
        return { branch: piece.branch, seq, carried: false, answers: [seq] };
    } else if (piece.answers.includes(seq))
      return { branch: piece.branch, seq: piece.seq, carried: true, answers: piece.answers };
  }
  return undefined;
}

/** Returns the last event of a view; undefined for an empty one. */
export function lastOf(
  view: View,
): { readonly branch: string; readonly seq: Seq; readonly carriedTurn: number | undefined } | undefined {
  const piece = view.pieces.at(-1);
  if (piece === undefined) return undefined;
  return piece.kind === 'range'
    ? { branch: piece.branch, seq: piece.through, carriedTurn: undefined }
    : { branch: piece.branch, seq: piece.seq, carriedTurn: piece.turn };
}

/** Yields every seq of a view, in view order. */
export function* seqsOf(view: View): Generator<Seq> {
  for (const piece of view.pieces) {
    if (piece.kind === 'carried') yield piece.seq;
    else for (let seq = later(piece.after, 1); seq <= piece.through; seq = later(seq, 1)) yield seq;
  }
}

/** Returns the marker at a seq if it is in effect at a point. */
export function liveMarker(history: History, at: Seq, seq: Seq): EditMarker | undefined {
  const { live, dead } = effectOf(itemsOf(scriptAt(history, at)));
  return dead.has(seq) ? undefined : live.get(seq);
}

/**
 * Returns every edit in effect at a point, rising. Rewinds to a seq are not among them: they leave an earlier history.
 */
export function liveMarkers(history: History, at: Seq): EditMarker[] {
  const { live, dead } = effectOf(itemsOf(scriptAt(history, at)));
  return [...live.values()].filter((marker) => !dead.has(marker.seq));
}

/** Returns every edit that led to a point and was undone since, rising. */
export function takenBack(history: History, at: Seq): EditMarker[] {
  const { live, dead } = effectOf(itemsOf(scriptAt(history, at)));
  return [...live.values()].filter((marker) => dead.has(marker.seq));
}

/** Returns the marker that redo would undo on a branch: the last one in effect that redo did not make itself. */
export function lastLiveMarker(
  history: History,
  branch: string,
  at: Seq,
  undone: ReadonlySet<Seq> = new Set(),
): EditMarker | undefined {
  const own = history.markers.filter(isEdit).filter((marker) => marker.branch === branch && marker.seq <= at);
  if (own.length === 0) return undefined;
  const rewind = own.findLast((marker) => marker.kind === 'rewound');
  const { live, dead } = effectOf(itemsOf(scriptAt(history, at)));
  const since = own.findLast(
    (marker) =>
      live.has(marker.seq) &&
      !dead.has(marker.seq) &&
      !undone.has(marker.seq) &&
      marker.seq > (rewind?.seq ?? beginning) &&
      !madeByRedo(marker),
  );
  if (since !== undefined) return since;
  if (rewind === undefined || rewind.kind !== 'rewound') return undefined;
  // Redo went back to before an earlier rewind: markers live at that point are live again, unless they were undone
  // since.
  return rewind.redo ? lastLiveMarker(history, branch, rewind.to, new Set([...undone, ...dead])) : rewind;
}

function madeByRedo(marker: Marker): boolean {
  return (marker.kind === 'reverted' || marker.kind === 'rewound') && marker.redo;
}
