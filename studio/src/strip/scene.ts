import type { EventIndex } from '../history/event-index.ts';
import type { CanvasColors } from '../look/canvas-colors.ts';
import type { Overview } from './overview.ts';
import { nearestSeq, type Positions } from './positions.ts';
import type { StripRows } from './rows.ts';
import { type Viewport, wholeView } from './viewport.ts';

/** A branch that grows from this history. */
export interface ForkMark {
  readonly seq: number;
  readonly branch: string;
}

/** Everything that a picture of the strip is made of. */
export interface Scene {
  readonly index: EventIndex;
  readonly positions: Positions;
  readonly rows: StripRows;
  readonly overview: Overview;
  readonly view: Viewport;
  readonly width: number;
  readonly height: number;
  /** How far the lanes are scrolled down. */
  readonly scroll: number;
  readonly selected: number;
  readonly pinned: number | undefined;
  readonly hovered: number | undefined;
  /** Seqs that were selected as a range. */
  readonly range: readonly [number, number] | undefined;
  /** Where a drag began and is now, in pixels. */
  readonly drag: readonly [number, number] | undefined;
  /** Whether an event matches the filter; undefined if every event does. */
  readonly isMatch: ((seq: number) => boolean) | undefined;
  /** Seqs to mark on the overview: hits of a search, or changes of a value. */
  readonly ticks: readonly number[];
  readonly forks: readonly ForkMark[];
  readonly colors: CanvasColors;
}

/** The heights of the strip's parts, and the width of its labels, in pixels. */
export const size = {
  overview: 24,
  ruler: 18,
  lane: 20,
  mark: 18,
  gutter: 128,
  lanesMax: 240,
} as const;

/** The parts of the strip that have their own height. */
export interface Frame {
  readonly lanesTop: number;
  readonly lanesHeight: number;
  /** The rows below the lanes that have something in them, with their tops. */
  readonly marks: readonly {
    readonly kind: 'state' | 'markers' | 'tasks';
    readonly label: string;
    readonly top: number;
  }[];
  readonly height: number;
  /** How high the lanes would be if nothing were cut. */
  readonly wholeLanes: number;
}

/** Lays the parts of the strip below each other. */
export function frameOf(rows: StripRows, forks: readonly ForkMark[], lanesMax: number = size.lanesMax): Frame {
  const lanesTop = size.overview + size.ruler;
  const wholeLanes = Math.max(1, rows.laneRows) * size.lane;
  const lanesHeight = Math.min(wholeLanes, lanesMax);
  const kinds = [
    { kind: 'state', label: 'state, notes', has: rows.marks.state.length > 0 },
    { kind: 'markers', label: 'branches', has: rows.marks.markers.length > 0 || forks.length > 0 },
    { kind: 'tasks', label: 'tasks', has: rows.marks.tasks.length > 0 },
  ] as const;
  const marks = kinds
    .filter(({ has }) => has)
    .map(({ kind, label }, at) => ({ kind, label, top: lanesTop + lanesHeight + at * size.mark }));
  return { lanesTop, lanesHeight, marks, wholeLanes, height: lanesTop + lanesHeight + marks.length * size.mark + 4 };
}

/** Returns how far the lanes have to be scrolled to show the lanes of an event's agent; as they are if they show it. */
export function scrollShowing(scroll: number, { rows, frame, row }: ShownRow): number {
  const group = rows.groups.find(({ firstRow, rows: count }) => row >= firstRow && row < firstRow + count);
  if (group === undefined) return scroll;
  const [top, bottom] = [group.firstRow * size.lane, (group.firstRow + group.rows) * size.lane];
  if (top < scroll) return top;
  return bottom > scroll + frame.lanesHeight ? Math.min(top, bottom - frame.lanesHeight) : scroll;
}

interface ShownRow {
  readonly rows: StripRows;
  readonly frame: Frame;
  /** The row of the strip that is to be seen. */
  readonly row: number;
}

/** Returns how strongly an event is drawn: one that does not match the filter is dimmed. */
export const alphaOf = ({ isMatch }: Scene, seq: number): number => (isMatch === undefined || isMatch(seq) ? 1 : 0.18);

/** Returns the pixel of a place on the overview, which always shows everything, with the air that the strip has then. */
export function overviewPixel({ positions, width }: Pick<Scene, 'positions' | 'width'>, place: number): number {
  return pixelOf({ view: wholeView(positions.total), width }, place);
}

/** Returns the pixel of a place on the strip. */
export function pixelOf({ view, width }: Pick<Scene, 'view' | 'width'>, place: number): number {
  return size.gutter + ((place - view.from) / (view.to - view.from)) * (width - size.gutter);
}

/** Returns {@link pixelOf} as a function of the place alone, for those who place many events. */
export function pixelsOf({ view, width }: Pick<Scene, 'view' | 'width'>): (place: number) => number {
  const [from, scale] = [view.from, (width - size.gutter) / (view.to - view.from)];
  return (place) => size.gutter + (place - from) * scale;
}

/** Returns the place on the strip of a pixel. */
export function placeOf({ view, width }: Pick<Scene, 'view' | 'width'>, pixel: number): number {
  return view.from + ((pixel - size.gutter) / (width - size.gutter)) * (view.to - view.from);
}

/** Returns the event that is drawn at a pixel: the call or mark under it, else the nearest event; undefined left of the strip. */
export function eventAtPixel(scene: Scene, frame: Frame, x: number, y: number): number | undefined {
  if (x < size.gutter) return undefined;
  const { rows, positions } = scene;
  const isInLanes = y >= frame.lanesTop && y < frame.lanesTop + frame.lanesHeight;
  if (isInLanes) return barAtPixel(scene, frame, x, y) ?? nearestInRow(scene, frame, x, y);
  const row = frame.marks.find(({ top }) => y >= top && y < top + size.mark);
  const near = row === undefined ? undefined : nearestOf(rows.marks[row.kind], scene, x);
  if (near !== undefined) return near;
  return nearestSeq(positions, placeOf(scene, x));
}

function barAtPixel(scene: Scene, frame: Frame, x: number, y: number): number | undefined {
  const { bars } = scene.rows;
  const row = Math.floor((y - frame.lanesTop + scene.scroll) / size.lane);
  let best: number | undefined;
  let distance = 3;
  for (let bar = 0; bar < bars.count; bar++) {
    if (bars.row[bar] !== row) continue;
    const { from, to } = barPixels(scene, bar);
    const away = x < from ? from - x : x > to ? x - to : 0;
    // The latest bar is drawn last, so it is on top.
    if (away <= distance) [best, distance] = [bars.start[bar], away];
  }
  return best;
}

/** Returns where a call is drawn, from its start to its end; one that never ended reaches to the end of its lane. */
export function barPixels(
  scene: Scene,
  bar: number,
): { readonly from: number; readonly to: number; readonly isOpen: boolean } {
  const { bars } = scene.rows;
  const { at, total } = scene.positions;
  const from = pixelOf(scene, at[bars.start[bar] ?? 0] ?? 0);
  const to = pixelOf(scene, at[bars.until[bar] ?? 0] ?? total);
  return { from, to: Math.max(to, from + 2), isOpen: bars.end[bar] === 0 };
}

function nearestInRow(scene: Scene, frame: Frame, x: number, y: number): number | undefined {
  const row = Math.floor((y - frame.lanesTop + scene.scroll) / size.lane) + 1;
  const seq = nearestSeq(scene.positions, placeOf(scene, x));
  const { rowOf } = scene.rows;
  for (let away = 0; away < 2_000; away++) {
    if (rowOf[seq + away] === row) return seq + away;
    if (rowOf[seq - away] === row) return seq - away;
  }
  return seq;
}

function nearestOf(seqs: Uint32Array, scene: Scene, x: number): number | undefined {
  let best: number | undefined;
  let distance = 8;
  for (const seq of seqs) {
    const away = Math.abs(pixelOf(scene, scene.positions.at[seq] ?? 0) - x);
    if (away < distance) [best, distance] = [seq, away];
  }
  return best;
}
