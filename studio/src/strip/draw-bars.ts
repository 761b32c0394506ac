import { columnFlags } from '../../../src/core/session/event-columns.ts';
import { durationText } from '../../../src/wording/amount.ts';
import type { EventIndex } from '../history/event-index.ts';
import type { CanvasColors } from '../look/canvas-colors.ts';
import { type Look, lookOfKind } from '../look/glyphs.ts';
import { clipped, letter, monoFont, type Pen } from './pen.ts';
import { columnWidth, PixelColumns } from './pixel-columns.ts';
import { lowerBound, seqsBetween } from './positions.ts';
import { alphaOf, type Frame, pixelsOf, type Scene, size } from './scene.ts';

/** A bar is drawn with its outline and name from this width on, in pixels; below, it is a mark in a column. */
const barMin = 4;

/** Makes columns for the lanes on screen. */
function laneColumns({ scroll, width }: Scene, frame: Frame): PixelColumns {
  const first = Math.floor(scroll / size.lane);
  const last = Math.floor((scroll + frame.lanesHeight - 1) / size.lane);
  return new PixelColumns(first, last, width - size.gutter);
}

/** The marks of a lane that are no calls, the strongest last. */
const messageColors = ['message', 'border', 'border', 'error'] as const;

/** Draws everything in a lane apart from calls: messages, starts and ends of runs. */
export function drawMessages(pen: Pen, scene: Scene, frame: Frame): void {
  const { rows, index, positions } = scene;
  const { type, flags } = index.columns;
  const toPixel = pixelsOf(scene);
  const columns = laneColumns(scene, frame);
  const [first, last] = seqsBetween(positions, scene.view.from, scene.view.to);
  const kinds: number[] = [];
  const { others, rowOf } = rows;
  for (let place = lowerBound(others, first); place < others.length; place++) {
    const seq = others[place] ?? 0;
    if (seq > last) break;
    const word = type[seq] ?? 0;
    const kind = (kinds[word] ??= messageKind(index.word('type', seq)));
    const isError = kind === 2 && ((flags[seq] ?? 0) & columnFlags.error) !== 0;
    const value = (isError ? 3 : kind) + 1 + (alphaOf(scene, seq) < 1 ? 0 : messageColors.length);
    columns.mark((rowOf[seq] ?? 1) - 1, toPixel(positions.at[seq] ?? 0) - size.gutter, value);
  }
  for (const [value, runs] of columns.runs()) {
    const kind = (value - 1) % messageColors.length;
    const air = kind >= 2 ? 3 : 5;
    pen.globalAlpha = value > messageColors.length ? 1 : dimmed;
    pen.fillStyle = scene.colors[messageColors[kind] ?? 'message'];
    for (const { row, from, to } of runs)
      pen.fillRect(
        size.gutter + from * columnWidth,
        frame.lanesTop + row * size.lane - scene.scroll + air,
        (to - from + 1) * columnWidth,
        size.lane - air * 2,
      );
  }
  pen.globalAlpha = 1;
}

const dimmed = 0.18;

function messageKind(type: string): number {
  if (type === 'run.ended') return 2;
  return type.startsWith('run.') ? 1 : 0;
}

/** The hues that a bar can have, as values of columns. */
const hues = ['wire', 'person', 'tool', 'model', 'error'] as const satisfies readonly (keyof CanvasColors)[];
/** How strong a mark in a column is: not matched, not in the view any more, or as usual. */
const strengths = [dimmed, 0.45, 0.95] as const;

/** Draws the calls: those that are wide enough as bars with their names, the others as marks in columns. */
export function drawBars(pen: Pen, scene: Scene, frame: Frame): void {
  const { bars } = scene.rows;
  const { at } = scene.positions;
  const { kind, flags } = scene.index.columns;
  const toPixel = pixelsOf(scene);
  const looks = new Looks(scene.index);
  const columns = laneColumns(scene, frame);
  const [top, bottom] = [frame.lanesTop - size.lane, frame.lanesTop + frame.lanesHeight];
  pen.font = monoFont;
  pen.textBaseline = 'middle';
  // A name may be next to its bar, up to the next one in the row.
  const unnamed: (BarShape | undefined)[] = [];
  for (let bar = 0; bar < bars.count; bar++) {
    const row = bars.row[bar] ?? 0;
    const y = frame.lanesTop + row * size.lane - scene.scroll + 2;
    if (y < top || y > bottom) continue;
    const seq = bars.start[bar] ?? 0;
    const from = toPixel(at[seq] ?? 0);
    if (from > scene.width) break;
    const to = toPixel(at[bars.until[bar] ?? 0] ?? 0);
    if (to < size.gutter - barMin) continue;
    const end = bars.end[bar] ?? 0;
    const failed = end > 0 && ((flags[end] ?? 0) & columnFlags.error) !== 0;
    const look = looks.of(kind[seq] ?? 0, seq);
    const before = unnamed[row];
    if (before !== undefined) drawBarText(pen, scene, before, from);
    unnamed[row] = undefined;
    if (to - from < barMin) columns.mark(row, from - size.gutter, narrowValue(scene, seq, end, failed, look));
    else {
      const shape = { seq, end, from: Math.max(from, size.gutter - 4), to, y, failed, look };
      drawBar(pen, scene, shape);
      unnamed[row] = shape;
    }
  }
  for (const shape of unnamed) if (shape !== undefined) drawBarText(pen, scene, shape, scene.width);
  pen.globalAlpha = 1;
  drawNarrow(pen, scene, frame, columns);
}

/** Looks up how calls look, once for each kind. */
class Looks {
  readonly #index: EventIndex;
  readonly #known: Look[] = [];

  constructor(index: EventIndex) {
    this.#index = index;
  }

  of(kind: number, seq: number): Look {
    return (this.#known[kind] ??= lookOfKind(this.#index.word('kind', seq)));
  }
}

/** Returns the value of a call in a column: strength first, so that a match wins over what is dimmed, then its hue. */
function narrowValue(scene: Scene, seq: number, end: number, failed: boolean, { hue }: Look): number {
  const isMatch = alphaOf(scene, seq) === 1 || (end > 0 && alphaOf(scene, end) === 1);
  const strength = !isMatch ? 0 : scene.index.isInView(seq) ? 2 : 1;
  const color = failed ? hues.length - 1 : Math.max(0, (hues as readonly string[]).indexOf(hue));
  return strength * hues.length + color + 1;
}

function drawNarrow(pen: Pen, { colors, scroll }: Scene, frame: Frame, columns: PixelColumns): void {
  for (const [value, runs] of columns.runs()) {
    pen.globalAlpha = strengths[Math.floor((value - 1) / hues.length)] ?? 1;
    pen.fillStyle = colors[hues[(value - 1) % hues.length] ?? 'wire'];
    for (const { row, from, to } of runs)
      pen.fillRect(
        size.gutter + from * columnWidth,
        frame.lanesTop + row * size.lane - scroll + 2,
        (to - from + 1) * columnWidth,
        size.lane - 4,
      );
  }
  pen.globalAlpha = 1;
}

interface BarShape {
  readonly seq: number;
  /** 0 while the call is open. */
  readonly end: number;
  readonly from: number;
  readonly to: number;
  readonly y: number;
  readonly failed: boolean;
  readonly look: Look;
}

function drawBar(pen: Pen, scene: Scene, shape: BarShape): void {
  const { seq, end, from, to, y, failed, look } = shape;
  const { index, colors } = scene;
  const tall = size.lane - 4;
  const wide = Math.max(2, to - from);
  const isHollow = !index.isInView(seq);
  const isReused = end > 0 && (index.hasFlag(end, 'reused') || index.hasFlag(end, 'simulated'));
  const alpha = barAlpha(scene, shape);
  const color = colors[look.hue === 'dim' ? 'faint' : look.hue];
  pen.fillStyle = color;
  if (!isHollow) {
    pen.globalAlpha = alpha * 0.2;
    pen.fillRect(from, y, wide, tall);
    pen.globalAlpha = alpha;
    if (!isReused || wide < 8) pen.fillRect(from, y, Math.min(3, wide), tall);
  }
  pen.globalAlpha = alpha;
  if (isReused) hatch(pen, color, [from, y, wide, tall]);
  if (failed || isHollow) {
    pen.strokeStyle = failed ? colors.error : color;
    pen.lineWidth = failed ? 1.5 : 1;
    pen.strokeRect(from + 0.5, y + 0.5, Math.max(1, wide - 1), tall - 1);
    pen.lineWidth = 1;
  }
  if (end === 0) drawOpenEnd(pen, color, to, y, tall);
}

/** Returns how strongly a bar is drawn: its start or its end may match the filter. */
const barAlpha = (scene: Scene, { seq, end }: BarShape): number =>
  Math.max(alphaOf(scene, seq), end === 0 ? 0 : alphaOf(scene, end));

function hatch(pen: Pen, color: string, box: readonly [number, number, number, number]): void {
  const [x, y, wide, tall] = box;
  clipped(pen, box, () => {
    pen.strokeStyle = color;
    pen.globalAlpha *= 0.55;
    pen.beginPath();
    for (let at = x - tall; at < x + Math.min(wide, 4_000); at += 5) {
      pen.moveTo(at, y + tall);
      pen.lineTo(at + tall, y);
    }
    pen.stroke();
  });
}

function drawOpenEnd(pen: Pen, color: string, x: number, y: number, tall: number): void {
  pen.setLineDash([2, 2]);
  pen.strokeStyle = color;
  pen.beginPath();
  pen.moveTo(x + 0.5, y);
  pen.lineTo(x + 0.5, y + tall);
  pen.stroke();
  pen.setLineDash([]);
}

/** A bar has its name next to it from this width on, in pixels: where bars are slivers, a few names would say little. */
const besideMin = 12;

/** Draws the name of a bar in it, or next to it where it has no room but the stretch up to the next bar has. */
function drawBarText(pen: Pen, scene: Scene, shape: BarShape, limit: number): void {
  const { index, colors } = scene;
  const { seq, end, from, to, y, failed, look } = shape;
  const room = Math.floor((to - from - 10) / letter);
  if (room < 2 && to - from < besideMin) return;
  const name = index.word('name', seq);
  const isBeside = to - from >= besideMin && name.length + 2 > room && name.length * letter < limit - to - 8;
  if (!isBeside && room < 2) return;
  pen.globalAlpha = barAlpha(scene, shape);
  pen.fillStyle = failed ? colors.error : isBeside ? colors.dim : colors.text;
  pen.textAlign = 'left';
  pen.fillText(
    isBeside ? name : barText(index, { seq, end, failed, glyph: look.glyph, room }),
    isBeside ? to + 4 : Math.max(from, size.gutter) + 6,
    y + (size.lane - 4) / 2 + 0.5,
  );
}

interface BarWords {
  readonly seq: number;
  readonly end: number;
  readonly failed: boolean;
  readonly glyph: string;
  /** The letters that fit. */
  readonly room: number;
}

/** Returns as much of a bar's name, time and outcome as fits. */
function barText(index: EventIndex, { seq, end, failed, glyph, room }: BarWords): string {
  if (room < 3) return glyph;
  const name = `${glyph} ${index.word('name', seq)}`;
  if (name.length > room) return `${name.slice(0, room - 1)}…`;
  const took = end === 0 ? undefined : index.number('latencyMs', end);
  const tail = `${took === undefined ? '' : ` ${durationText(took)}`}${failed ? ' ✕' : ''}`;
  return name.length + tail.length <= room ? name + tail : name;
}
