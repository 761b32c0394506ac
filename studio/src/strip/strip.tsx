import { type PointerEvent as ReactPointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { ScaleName } from '../address/address.ts';
import type { EventIndex } from '../history/event-index.ts';
import { type CanvasColors, readColors } from '../look/canvas-colors.ts';
import { theme } from '../look/theme.ts';
import { useCell } from '../parts/cell.ts';
import { useWidth } from '../parts/use-width.ts';
import { overviewOf } from './overview.ts';
import { StripPicture } from './picture.ts';
import { nearestSeq, placeEvents } from './positions.ts';
import { rowsOf } from './rows.ts';
import { eventAtPixel, type ForkMark, type Frame, frameOf, placeOf, type Scene, scrollShowing, size } from './scene.ts';
import { panned, showing, type Viewport, wholeView, within, zoomed } from './viewport.ts';

/** The properties of the strip. */
export interface StripProps {
  readonly index: EventIndex;
  /** Rises when the index changed. */
  readonly version: number;
  readonly scale: ScaleName;
  readonly range: readonly [number, number] | undefined;
  readonly selected: number;
  readonly pinned: number | undefined;
  readonly isMatch: ((seq: number) => boolean) | undefined;
  readonly ticks: readonly number[];
  readonly forks: readonly ForkMark[];
  /** The most height that lanes take, in pixels. */
  readonly lanesMax?: number;
  readonly label?: string;
  /** Says the selected event aloud. */
  readonly spoken: string;
  readonly onSelect: (seq: number) => void;
  readonly onHover: (seq: number | undefined) => void;
  readonly onRange: (range: readonly [number, number] | undefined) => void;
}

interface Drag {
  readonly kind: 'brush' | 'zoom' | 'scrub';
  readonly from: number;
  readonly now: number;
}

/** The strip: lanes over a ruler, with an overview of the whole history on top. */
export function Strip(props: StripProps): React.ReactNode {
  const { index, version, scale, selected, forks } = props;
  const [box, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [hovered, setHovered] = useState<number>();
  const [drag, setDrag] = useState<Drag>();
  const [scroll, setScroll] = useState(0);
  const colors = useColors();
  // The index grows in place: its version says when to look again.
  const positions = useMemo(() => placeEvents(index, scale), [index, version, scale]);
  const rows = useMemo(() => rowsOf(index, folded), [index, version, folded]);
  const overview = useMemo(() => overviewOf(index, positions, width - size.gutter), [index, positions, width]);
  const frame = useMemo(() => frameOf(rows, forks, props.lanesMax), [rows, forks, props.lanesMax]);
  const view = useViewport(props, positions.total, positions.at);
  const isHere = index.has(selected);
  // The lanes of what is selected are on screen. The wheel moves them until something else is selected.
  useEffect(() => {
    const row = (rows.rowOf[selected] ?? 0) - 1;
    if (row >= 0) setScroll((old) => scrollShowing(old, { rows, frame, row }));
  }, [selected, isHere, frame.lanesHeight]);
  const scene: Scene = {
    index,
    positions,
    rows,
    overview,
    view,
    width,
    height: frame.height,
    scroll: Math.min(scroll, Math.max(0, frame.wholeLanes - frame.lanesHeight)),
    selected,
    pinned: props.pinned,
    hovered,
    range: props.range,
    drag: drag?.kind === 'zoom' ? [drag.from, drag.now] : undefined,
    isMatch: props.isMatch,
    ticks: props.ticks,
    forks,
    colors,
  };
  usePicture(canvas, scene, frame);
  const change = (next: Viewport): void => props.onRange(seqsOf(next, positions.total, positions));
  const hover = (seq: number | undefined): void => {
    if (seq === hovered) return;
    setHovered(seq);
    props.onHover(seq);
  };
  const pointer = pointerOf({
    scene,
    frame,
    drag,
    setDrag,
    hover,
    change,
    props,
    toggle: (agent) => setFolded(toggled(folded, agent)),
  });
  useWheel(canvas, (event) => {
    const place = placeOf(scene, event.offsetX);
    if (event.ctrlKey || event.metaKey)
      return change(zoomed(view, positions.total, Math.exp(event.deltaY * 0.002), place));
    const isOverflowing = frame.wholeLanes > frame.lanesHeight && Math.abs(event.deltaY) > Math.abs(event.deltaX);
    if (isOverflowing && !event.shiftKey)
      return setScroll(Math.min(Math.max(0, scroll + event.deltaY), frame.wholeLanes - frame.lanesHeight));
    change(panned(view, positions.total, (event.deltaX + event.deltaY) / Math.max(1, width)));
  });
  return (
    <div
      ref={box}
      className="strip"
      role="slider"
      tabIndex={0}
      aria-label={props.label ?? 'The history as a strip'}
      aria-valuemin={0}
      aria-valuemax={index.head}
      aria-valuenow={selected}
      aria-valuetext={props.spoken}
      aria-orientation="horizontal"
      data-part="strip"
    >
      <canvas ref={canvas} {...pointer} />
    </div>
  );
}

function toggled(set: ReadonlySet<string>, item: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}

/** Returns the colors of the theme, read again when it changes. */
function useColors(): CanvasColors {
  const chosen = useCell(theme.shown);
  return useMemo(() => readColors(), [chosen]);
}

/** Returns the stretch on screen: the chosen range, moved as little as needed to show the selected event. */
function useViewport({ range, selected }: StripProps, total: number, at: Float64Array): Viewport {
  return useMemo(() => {
    if (range === undefined) return wholeView(total);
    const [from, to] = [at[range[0]] ?? 0, at[Math.min(range[1], at.length - 1)] ?? total];
    const air = Math.max((to - from) * 0.01, total * 1e-7);
    return showing(within({ from: from - air, to: to + air }, total), total, at[selected] ?? 0);
  }, [range, selected, total, at]);
}

/** Returns the seqs in a stretch; undefined if it is everything. */
function seqsOf(
  view: Viewport,
  total: number,
  positions: Parameters<typeof nearestSeq>[0],
): readonly [number, number] | undefined {
  const whole = wholeView(total);
  if (view.from <= whole.from && view.to >= whole.to) return undefined;
  const from = nearestSeq(positions, view.from);
  return [from, Math.max(from + 1, nearestSeq(positions, view.to))];
}

/** Draws the scene, once a frame. */
function usePicture(canvas: React.RefObject<HTMLCanvasElement | null>, scene: Scene, frame: Frame): void {
  const [picture] = useState(() => new StripPicture());
  const [, setFonts] = useState(0);
  useEffect(() => {
    const onFonts = (): void => {
      picture.forget();
      setFonts((count) => count + 1);
    };
    document.fonts.addEventListener('loadingdone', onFonts);
    return () => document.fonts.removeEventListener('loadingdone', onFonts);
  }, [picture]);
  useEffect(() => {
    if (canvas.current === null || scene.width < 1) return;
    performance.mark('strip-draw');
    picture.draw(canvas.current, scene, frame, globalThis.devicePixelRatio || 1);
    performance.measure('strip', 'strip-draw');
    // Observers have it now; kept entries would grow for as long as the page is open.
    performance.clearMarks('strip-draw');
    performance.clearMeasures('strip');
  });
}

/** Listens to the wheel; a listener of React cannot stop the page from zooming. */
function useWheel(canvas: React.RefObject<HTMLCanvasElement | null>, onWheel: (event: WheelEvent) => void): void {
  const latest = useRef(onWheel);
  latest.current = onWheel;
  useEffect(() => {
    const element = canvas.current;
    const listen = (event: WheelEvent): void => {
      event.preventDefault();
      latest.current(event);
    };
    element?.addEventListener('wheel', listen, { passive: false });
    return () => element?.removeEventListener('wheel', listen);
  }, [canvas]);
}

interface PointerParts {
  readonly scene: Scene;
  readonly frame: Frame;
  readonly drag: Drag | undefined;
  readonly setDrag: (drag: Drag | undefined) => void;
  readonly hover: (seq: number | undefined) => void;
  readonly change: (view: Viewport) => void;
  readonly props: StripProps;
  readonly toggle: (agent: string) => void;
}

type Pointed = ReactPointerEvent<HTMLCanvasElement>;

/** Returns what the pointer does: click selects, drag zooms, dragging the overview moves what is shown, the ruler scrubs. */
function pointerOf(
  parts: PointerParts,
): Record<'onPointerDown' | 'onPointerMove' | 'onPointerUp' | 'onPointerLeave', (event: Pointed) => void> {
  const { scene, frame, drag, setDrag, hover, props } = parts;
  const xOf = (event: Pointed): number => event.nativeEvent.offsetX;
  const selectAt = (event: Pointed): void => {
    const seq = eventAtPixel(scene, frame, xOf(event), event.nativeEvent.offsetY);
    if (seq !== undefined && seq > 0) props.onSelect(seq);
  };
  return {
    onPointerDown: (event) => {
      const { offsetX: x, offsetY: y } = event.nativeEvent;
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      if (x < size.gutter) return foldAt(parts, y);
      const kind = y < size.overview ? 'brush' : y < size.overview + size.ruler ? 'scrub' : 'zoom';
      setDrag({ kind, from: x, now: x });
      if (kind === 'brush') brushTo(parts, x);
      if (kind === 'scrub') selectAt(event);
    },
    onPointerMove: (event) => {
      const x = xOf(event);
      if (drag === undefined) return hover(eventAtPixel(scene, frame, x, event.nativeEvent.offsetY));
      setDrag({ ...drag, now: x });
      if (drag.kind === 'brush') brushTo(parts, x);
      if (drag.kind === 'scrub') selectAt(event);
    },
    onPointerUp: (event) => {
      setDrag(undefined);
      if (drag === undefined || drag.kind !== 'zoom') return;
      const x = xOf(event);
      if (Math.abs(x - drag.from) < 5) return selectAt(event);
      const [from, to] = [placeOf(scene, Math.min(x, drag.from)), placeOf(scene, Math.max(x, drag.from))];
      parts.change(within({ from, to }, scene.positions.total));
    },
    onPointerLeave: () => hover(undefined),
  };
}

/** Moves the stretch on screen so that its middle is where the overview was pressed; selects there if everything is on screen. */
function brushTo({ scene, change, props }: PointerParts, x: number): void {
  const { positions, view, width } = scene;
  const place = placeOf({ view: wholeView(positions.total), width }, x);
  if (view.from <= 0 && view.to >= positions.total) return props.onSelect(Math.max(1, nearestSeq(positions, place)));
  const half = (view.to - view.from) / 2;
  change(within({ from: place - half, to: place + half }, positions.total));
}

function foldAt({ scene, frame, toggle }: PointerParts, y: number): void {
  const row = Math.floor((y - frame.lanesTop + scene.scroll) / size.lane);
  const group = scene.rows.groups.find(({ firstRow, rows }) => row >= firstRow && row < firstRow + rows);
  if (group !== undefined && group.wholeRows > 1) toggle(group.agent);
}
