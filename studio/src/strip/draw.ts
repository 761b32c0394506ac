import { durationText } from '../../../src/wording/amount.ts';
import { lookOf, lookOfKind } from '../look/glyphs.ts';
import { drawPoints } from './draw-points.ts';
import { clipped, labelFont, letter, line, monoFont, type Pen } from './pen.ts';
import { ticksOf } from './ruler.ts';
import { type Frame, pixelOf, pixelsOf, type Scene, size } from './scene.ts';

/** Draws the whole strip. */
export function drawStrip(pen: Pen, scene: Scene, frame: Frame): void {
  const { width, height, colors } = scene;
  pen.fillStyle = colors.panel;
  pen.fillRect(0, 0, width, height);
  drawOverview(pen, scene);
  drawRuler(pen, scene, frame);
  clipped(pen, [0, frame.lanesTop, width, frame.lanesHeight], () => drawLanes(pen, scene, frame));
  drawMarks(pen, scene, frame);
  drawFolds(pen, scene, frame);
  drawLabels(pen, scene, frame);
  drawPoints(pen, scene, frame);
}

/** Returns the pixel of a place on the overview, which always shows everything. */
function overviewPixel({ positions, width }: Pick<Scene, 'positions' | 'width'>, place: number): number {
  return size.gutter + (place / positions.total) * (width - size.gutter);
}

function drawOverview(pen: Pen, scene: Scene): void {
  const { overview, colors, width, positions } = scene;
  const bottom = size.overview - 3;
  const high = size.overview - 8;
  for (const [column, density] of overview.density.entries()) {
    if (density === 0) continue;
    const tall = Math.max(2, density * high);
    pen.fillStyle = overview.error[column] === 1 ? colors.error : colors.faint;
    pen.fillRect(size.gutter + column, bottom - tall, 1, tall);
  }
  for (const seq of scene.ticks) {
    pen.fillStyle = colors.accent;
    pen.fillRect(Math.round(overviewPixel(scene, positions.at[seq] ?? 0)), 1, 2, 4);
  }
  for (const { seq } of scene.forks) {
    pen.fillStyle = colors.person;
    pen.fillRect(Math.round(overviewPixel(scene, positions.at[seq] ?? 0)), bottom, 3, 3);
  }
  drawBrush(pen, scene);
  pen.fillStyle = colors.accent;
  pen.fillRect(Math.round(overviewPixel(scene, positions.at[scene.selected] ?? 0)) - 1, 0, 2, size.overview);
  line(pen, colors.hairline, [0, size.overview + 0.5], [width, size.overview + 0.5]);
}

function drawBrush(pen: Pen, scene: Scene): void {
  const { view, positions, colors, width } = scene;
  if (view.from <= 0 && view.to >= positions.total) return;
  const [from, to] = [overviewPixel(scene, view.from), overviewPixel(scene, view.to)];
  pen.globalAlpha = 0.72;
  pen.fillStyle = colors.panel;
  pen.fillRect(size.gutter, 0, Math.max(0, from - size.gutter), size.overview);
  pen.fillRect(to, 0, Math.max(0, width - to), size.overview);
  pen.globalAlpha = 1;
  pen.strokeStyle = colors.border;
  pen.strokeRect(
    Math.max(size.gutter, from) + 0.5,
    0.5,
    Math.max(2, Math.min(to, width - 1) - Math.max(size.gutter, from)),
    size.overview - 1,
  );
}

function drawRuler(pen: Pen, scene: Scene, frame: Frame): void {
  const { colors, width } = scene;
  const count = (width - size.gutter) / 110;
  pen.font = monoFont;
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  const selected = pixelOf(scene, scene.positions.at[scene.selected] ?? 0);
  const isHidden = (x: number, label: string): boolean =>
    selected + 60 > x && selected - 60 < x + label.length * letter;
  for (const { at, label } of ticksOf(scene.positions, scene.view, count, scene.index)) {
    const x = Math.round(pixelOf(scene, at)) + 0.5;
    if (x < size.gutter) continue;
    line(pen, colors.hairline, [x, size.overview + (isHidden(x, label) ? size.ruler : 0)], [x, frame.height - 4]);
    if (isHidden(x, label)) continue;
    pen.fillStyle = colors.faint;
    pen.fillText(label, x + 4, size.overview + size.ruler / 2 + 1);
  }
}

function drawLanes(pen: Pen, scene: Scene, frame: Frame): void {
  const { colors, width, rows, scroll } = scene;
  for (const { firstRow } of rows.groups) {
    const y = frame.lanesTop + firstRow * size.lane - scroll + 0.5;
    line(pen, colors.hairline, [0, y], [width, y]);
  }
  drawMessages(pen, scene, frame);
  drawBars(pen, scene, frame);
}

/** Draws what is in a lane and is no call: messages, starts and ends of runs. Many in one pixel are one mark. */
function drawMessages(pen: Pen, scene: Scene, frame: Frame): void {
  const { rows, index, colors, positions } = scene;
  const toPixel = pixelsOf(scene);
  const lastX = new Int32Array(rows.laneRows).fill(-10);
  for (const seq of rows.others) {
    const x = Math.round(toPixel(positions.at[seq] ?? 0));
    const row = (rows.rowOf[seq] ?? 1) - 1;
    if (x < size.gutter || x > scene.width || lastX[row] === x) continue;
    lastX[row] = x;
    const y = frame.lanesTop + row * size.lane - scene.scroll;
    if (y < frame.lanesTop - size.lane || y > frame.lanesTop + frame.lanesHeight) continue;
    const type = index.word('type', seq);
    const isEnd = type === 'run.ended';
    pen.globalAlpha = alphaOf(scene, seq);
    pen.fillStyle =
      isEnd && index.isError(seq) ? colors.error : type.startsWith('run.') ? colors.border : colors.message;
    pen.fillRect(x - 1, y + (isEnd ? 3 : 5), 2, size.lane - (isEnd ? 6 : 10));
  }
  pen.globalAlpha = 1;
}

function drawBars(pen: Pen, scene: Scene, frame: Frame): void {
  const { bars, laneRows } = scene.rows;
  const { at } = scene.positions;
  const toPixel = pixelsOf(scene);
  const lastX = new Int32Array(laneRows).fill(-1);
  const [top, bottom] = [frame.lanesTop - size.lane, frame.lanesTop + frame.lanesHeight];
  pen.font = monoFont;
  pen.textBaseline = 'middle';
  for (let bar = 0; bar < bars.count; bar++) {
    const row = bars.row[bar] ?? 0;
    const y = frame.lanesTop + row * size.lane - scene.scroll + 2;
    if (y < top || y > bottom) continue;
    const seq = bars.start[bar] ?? 0;
    const from = toPixel(at[seq] ?? 0);
    if (from > scene.width) break;
    const to = Math.max(toPixel(at[bars.until[bar] ?? 0] ?? 0), from + 2);
    if (to < size.gutter) continue;
    const end = bars.end[bar] ?? 0;
    const failed = end > 0 && scene.index.isError(end);
    const pixel = Math.floor(from);
    // Many calls in one pixel are one mark; errors are always drawn.
    if (!failed && to - from <= 2 && pixel === lastX[row]) continue;
    lastX[row] = pixel;
    drawBar(pen, scene, { seq, end, from: Math.max(from, size.gutter - 4), to, y, failed, isOpen: end === 0 });
  }
  pen.globalAlpha = 1;
}

interface BarShape {
  readonly seq: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
  readonly y: number;
  readonly failed: boolean;
  readonly isOpen: boolean;
}

function drawBar(pen: Pen, scene: Scene, { seq, end, from, to, y, failed, isOpen }: BarShape): void {
  const { index, colors } = scene;
  const look = lookOfKind(index.word('kind', seq));
  const tall = size.lane - 4;
  const wide = Math.max(2, to - from);
  const isHollow = !index.isInView(seq);
  const isReused = end > 0 && (index.hasFlag(end, 'reused') || index.hasFlag(end, 'simulated'));
  const alpha = Math.max(alphaOf(scene, seq), end === 0 ? 0 : alphaOf(scene, end));
  pen.globalAlpha = alpha;
  pen.fillStyle = colors[look.hue === 'dim' ? 'faint' : look.hue];
  if (!isHollow) {
    pen.globalAlpha *= wide < 4 ? 0.9 : 0.2;
    pen.fillRect(from, y, wide, tall);
    pen.globalAlpha = alpha;
    if (!isReused || wide < 8) pen.fillRect(from, y, Math.min(3, wide), tall);
  }
  if (isReused) hatch(pen, from, y, wide, tall);
  pen.strokeStyle = failed ? colors.error : pen.fillStyle;
  if (failed || isHollow) {
    pen.lineWidth = failed ? 1.5 : 1;
    pen.strokeRect(from + 0.5, y + 0.5, Math.max(1, wide - 1), tall - 1);
    pen.lineWidth = 1;
  }
  if (isOpen) drawOpenEnd(pen, to, y, tall);
  drawBarText(pen, scene, { seq, end, from, wide, y, failed, glyph: look.glyph });
}

function hatch(pen: Pen, x: number, y: number, wide: number, tall: number): void {
  clipped(pen, [x, y, wide, tall], () => {
    pen.strokeStyle = pen.fillStyle;
    pen.globalAlpha *= 0.55;
    pen.beginPath();
    for (let at = x - tall; at < x + Math.min(wide, 4_000); at += 5) {
      pen.moveTo(at, y + tall);
      pen.lineTo(at + tall, y);
    }
    pen.stroke();
  });
}

function drawOpenEnd(pen: Pen, x: number, y: number, tall: number): void {
  pen.setLineDash([2, 2]);
  pen.strokeStyle = pen.fillStyle;
  pen.beginPath();
  pen.moveTo(x + 0.5, y);
  pen.lineTo(x + 0.5, y + tall);
  pen.stroke();
  pen.setLineDash([]);
}

interface BarText {
  readonly seq: number;
  readonly end: number;
  readonly from: number;
  readonly wide: number;
  readonly y: number;
  readonly failed: boolean;
  readonly glyph: string;
}

function drawBarText(pen: Pen, scene: Scene, { seq, end, from, wide, y, failed, glyph }: BarText): void {
  if (wide < 16) return;
  const { index, colors } = scene;
  const room = Math.floor((wide - 10) / letter);
  if (room < 2) return;
  const start = Math.max(from, size.gutter) + 6;
  const took = end === 0 ? undefined : (index.number('latencyMs', end) ?? undefined);
  const name = `${glyph} ${index.word('name', seq)}`;
  const tail = [took === undefined ? '' : durationText(took), failed ? '✕' : '']
    .filter((word) => word !== '')
    .join(' ');
  const whole = tail === '' ? name : `${name} ${tail}`;
  pen.fillStyle = failed ? colors.error : colors.text;
  pen.textAlign = 'left';
  const text =
    whole.length <= room ? whole : name.length <= room ? name : room < 3 ? glyph : `${name.slice(0, room - 1)}…`;
  pen.fillText(text, start, y + (size.lane - 4) / 2 + 0.5);
}

function drawMarks(pen: Pen, scene: Scene, frame: Frame): void {
  for (const { kind, top } of frame.marks) {
    line(pen, scene.colors.hairline, [0, top + 0.5], [scene.width, top + 0.5]);
    drawMarkRow(pen, scene, scene.rows.marks[kind], top);
    if (kind === 'markers') drawForks(pen, scene, top);
  }
}

function drawMarkRow(pen: Pen, scene: Scene, seqs: Uint32Array, top: number): void {
  const { index, colors, positions } = scene;
  let [free, last] = [-1, -1];
  const toPixel = pixelsOf(scene);
  pen.font = monoFont;
  pen.textBaseline = 'middle';
  for (const [place, seq] of seqs.entries()) {
    const x = Math.round(toPixel(positions.at[seq] ?? 0));
    if (x < size.gutter || x > scene.width || x === last) continue;
    last = x;
    const look = lookOf(index.word('type', seq), index.word('kind', seq));
    const color = colors[look.hue === 'dim' ? 'faint' : look.hue];
    pen.globalAlpha = alphaOf(scene, seq);
    pen.fillStyle = color;
    if (x < free) {
      pen.fillRect(x, top + size.mark / 2 - 1, 2, 3);
      continue;
    }
    pen.textAlign = 'center';
    pen.fillText(look.glyph, x, top + size.mark / 2 + 1);
    free = x + 9;
    const next = seqs[place + 1];
    const room = next === undefined ? scene.width - x : pixelOf(scene, positions.at[next] ?? 0) - x;
    const name = index.word('name', seq);
    if (name === '' || room < 14 + name.length * letter) continue;
    pen.textAlign = 'left';
    pen.fillStyle = colors.dim;
    pen.fillText(name, x + 8, top + size.mark / 2 + 1);
    free = x + 12 + name.length * letter;
  }
  pen.globalAlpha = 1;
}

function drawForks(pen: Pen, scene: Scene, top: number): void {
  const { colors, positions, forks } = scene;
  let free = -1;
  for (const { seq, branch } of forks) {
    const x = Math.round(pixelOf(scene, positions.at[seq] ?? 0));
    if (x < size.gutter || x > scene.width) continue;
    pen.fillStyle = colors.person;
    pen.textAlign = 'center';
    if (x >= free - 4) drawForkSign(pen, x, top + size.mark / 2);
    const text = branch.length > 20 ? `${branch.slice(0, 19)}…` : branch;
    if (x < free) continue;
    pen.textAlign = 'left';
    pen.fillStyle = colors.dim;
    pen.fillText(text, x + 10, top + size.mark / 2 + 1);
    free = x + 14 + text.length * letter;
  }
}

/** Draws a line that leaves a line. */
function drawForkSign(pen: Pen, x: number, y: number): void {
  pen.strokeStyle = pen.fillStyle;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x, y - 5);
  pen.lineTo(x, y + 5);
  pen.moveTo(x, y + 2);
  pen.quadraticCurveTo(x + 5, y + 1, x + 5, y - 4);
  pen.stroke();
  pen.lineWidth = 1;
}

function drawFolds(pen: Pen, scene: Scene, frame: Frame): void {
  const { colors } = scene;
  let free = size.gutter + 8;
  pen.font = monoFont;
  for (const { at, width, ms } of scene.positions.folds) {
    const [from, to] = [pixelOf(scene, at), pixelOf(scene, at + width)];
    if (to < size.gutter || from > scene.width) continue;
    pen.globalAlpha = 0.6;
    pen.fillStyle = colors.page;
    pen.fillRect(
      Math.max(from, size.gutter),
      size.overview,
      to - Math.max(from, size.gutter),
      frame.height - size.overview,
    );
    pen.globalAlpha = 1;
    const text = `// ${durationText(ms)}`;
    const isWide = to - from > text.length * letter;
    pen.fillStyle = colors.faint;
    pen.textAlign = 'center';
    const middle = (from + to) / 2;
    const shown = isWide ? text : '//';
    const half = (shown.length * letter) / 2 + 2;
    if (middle - half < free) continue;
    free = middle + half;
    pen.fillStyle = colors.panel;
    pen.fillRect(middle - half, size.overview + 2, half * 2, size.ruler - 3);
    pen.fillStyle = colors.faint;
    pen.fillText(shown, middle, size.overview + size.ruler / 2 + 1);
  }
}

function drawLabels(pen: Pen, scene: Scene, frame: Frame): void {
  const { colors, rows, scroll } = scene;
  pen.fillStyle = colors.panel;
  pen.fillRect(0, size.overview + 1, size.gutter - 8, frame.height - size.overview - 1);
  pen.font = labelFont;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  clipped(pen, [0, frame.lanesTop, size.gutter, frame.lanesHeight], () => {
    for (const { agent, firstRow, folded, wholeRows } of rows.groups) {
      const y = frame.lanesTop + firstRow * size.lane - scroll;
      line(pen, colors.hairline, [0, y + 0.5], [size.gutter, y + 0.5]);
      const sign = wholeRows > 1 ? (folded ? '▸ ' : '▾ ') : '';
      pen.fillStyle = colors.text;
      pen.fillText(`${sign}${shortened(agent, 17)}`, 12, y + size.lane / 2 + 1);
    }
  });
  pen.fillStyle = colors.faint;
  if (frame.wholeLanes - scroll > frame.lanesHeight + 1) drawMore(pen, scene, frame);
  for (const { label, top } of frame.marks) {
    line(pen, colors.hairline, [0, top + 0.5], [size.gutter, top + 0.5]);
    pen.fillText(label, 12, top + size.mark / 2 + 1);
  }
}

/** Says that lanes go on below. */
function drawMore(pen: Pen, { colors, rows, scroll }: Scene, frame: Frame): void {
  const hidden = rows.groups.filter(({ firstRow }) => firstRow * size.lane - scroll >= frame.lanesHeight).length;
  const y = frame.lanesTop + frame.lanesHeight - size.lane;
  pen.fillStyle = colors.panel;
  pen.fillRect(0, y + 1, size.gutter - 8, size.lane - 1);
  pen.fillStyle = colors.accent;
  pen.fillText(hidden === 0 ? '▾ more below' : `▾ ${hidden} more below`, 12, y + size.lane / 2 + 1);
  pen.fillStyle = colors.faint;
}

const shortened = (text: string, letters: number): string =>
  text.length > letters ? `${text.slice(0, letters - 1)}…` : text;

const alphaOf = ({ isMatch }: Scene, seq: number): number => (isMatch === undefined || isMatch(seq) ? 1 : 0.18);
