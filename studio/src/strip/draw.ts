import { durationText } from '../../../src/wording/amount.ts';
import { type Look, lookOf } from '../look/glyphs.ts';
import { drawBars, drawMessages } from './draw-bars.ts';
import { drawPoints } from './draw-points.ts';
import { clipped, labelFont, letter, line, monoFont, type Pen } from './pen.ts';
import { lowerBound, seqsBetween } from './positions.ts';
import type { Tick } from './ruler.ts';
import { alphaOf, type Frame, overviewPixel, pixelOf, pixelsOf, type Scene, size } from './scene.ts';

/** Draws everything that stays while points are selected: the overview, lanes, marks and folds. Returns the ticks of the ruler whose labels have room next to those of folds. */
export function drawHistory(pen: Pen, scene: Scene, frame: Frame, ticks: readonly Tick[]): readonly Tick[] {
  const { width, height, colors } = scene;
  pen.fillStyle = colors.panel;
  pen.fillRect(0, 0, width, height);
  drawOverview(pen, scene);
  for (const { at } of ticks) {
    const x = Math.round(pixelOf(scene, at)) + 0.5;
    if (x >= size.gutter) line(pen, colors.hairline, [x, frame.lanesTop], [x, frame.height - 4]);
  }
  const boxOf = ({ at, label }: Tick): readonly [number, number] => {
    const x = pixelOf(scene, at);
    return [x, x + 8 + label.length * letter];
  };
  const taken = drawFolds(pen, scene, frame, ticks.map(boxOf));
  clipped(pen, [0, frame.lanesTop, width, frame.lanesHeight], () => drawLanes(pen, scene, frame));
  drawMarks(pen, scene, frame);
  drawLabels(pen, scene, frame);
  let until = 0;
  return ticks.filter((tick) => {
    const box = boxOf(tick);
    // Ticks on both sides of a fold may be near each other.
    if (box[0] < until || taken.some((other) => overlaps(other, box))) return false;
    until = box[1];
    return true;
  });
}

/** Draws the labels of the ruler, apart from those that the selected point would cover, and what is selected. */
export function drawSelection(pen: Pen, scene: Scene, frame: Frame, ticks: readonly Tick[]): void {
  const { colors, index, positions, selected } = scene;
  pen.fillStyle = colors.accent;
  if (selected === 0 || index.has(selected))
    pen.fillRect(Math.round(overviewPixel(scene, positions.at[selected] ?? 0)) - 1, 0, 2, size.overview);
  drawRuler(pen, scene, ticks);
  drawPoints(pen, scene, frame);
}

function drawOverview(pen: Pen, scene: Scene): void {
  const { overview, colors, width, positions } = scene;
  const bottom = size.overview - 3;
  const high = size.overview - 8;
  for (const isError of [0, 1]) {
    pen.fillStyle = isError === 1 ? colors.error : colors.faint;
    for (let column = 0; column < overview.density.length; column++) {
      const density = overview.density[column] ?? 0;
      if (density === 0 || overview.error[column] !== isError) continue;
      const tall = Math.max(2, density * high);
      pen.fillRect(size.gutter + column, bottom - tall, 1, tall);
    }
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

function drawRuler(pen: Pen, scene: Scene, ticks: readonly Tick[]): void {
  const { colors } = scene;
  pen.font = monoFont;
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  const selected = pixelOf(scene, scene.positions.at[scene.selected] ?? 0);
  for (const { at, label } of ticks) {
    const x = Math.round(pixelOf(scene, at)) + 0.5;
    if (x < size.gutter || (selected + 60 > x && selected - 60 < x + label.length * letter)) continue;
    line(pen, colors.hairline, [x, size.overview], [x, size.overview + size.ruler]);
    if (x + 4 + label.length * letter > scene.width) continue;
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
  const looks: Look[] = [];
  const [first, through] = seqsBetween(positions, scene.view.from, scene.view.to);
  for (let place = lowerBound(seqs, first); place < seqs.length; place++) {
    const seq = seqs[place] ?? 0;
    if (seq > through) break;
    const x = Math.round(toPixel(positions.at[seq] ?? 0));
    if (x < size.gutter || x > scene.width || x === last) continue;
    last = x;
    const look = (looks[index.columns.type[seq] ?? 0] ??= lookOf(index.word('type', seq), ''));
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
    const left = besideMarkers(scene, seq, x + 10, text.length * letter);
    pen.fillText(text, left, top + size.mark / 2 + 1);
    free = left + 4 + text.length * letter;
  }
}

/** Returns where the words after an event begin so that no marker that follows is under it. */
function besideMarkers(scene: Scene, seq: number, from: number, wide: number): number {
  const { markers } = scene.rows.marks;
  let left = from;
  for (let place = lowerBound(markers, seq); place < markers.length; place++) {
    const x = pixelOf(scene, scene.positions.at[markers[place] ?? 0] ?? 0);
    if (x > left + wide) break;
    left = Math.max(left, x + 8);
  }
  return left;
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

const overlaps = (a: readonly [number, number], b: readonly [number, number]): boolean => a[1] > b[0] && a[0] < b[1];

/** Draws the folds, and returns the stretches of the ruler that their labels take. A fold too narrow to say how long it was makes room for a time. */
function drawFolds(
  pen: Pen,
  scene: Scene,
  frame: Frame,
  times: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  const { colors } = scene;
  const taken: (readonly [number, number])[] = [];
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
    const box = [middle - half, middle + half] as const;
    if (box[0] < free || (!isWide && times.some((time) => overlaps(box, time)))) continue;
    free = box[1];
    taken.push(box);
    pen.fillText(shown, middle, size.overview + size.ruler / 2 + 1);
  }
  return taken;
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
  if (scroll > 0) drawMoreAbove(pen, scene);
  if (frame.wholeLanes - scroll > frame.lanesHeight + 1) drawMore(pen, scene, frame);
  pen.fillStyle = colors.faint;
  for (const { label, top } of frame.marks) {
    line(pen, colors.hairline, [0, top + 0.5], [size.gutter, top + 0.5]);
    pen.fillText(label, 12, top + size.mark / 2 + 1);
  }
}

/** Says that lanes continue below. */
function drawMore(pen: Pen, { colors, rows, scroll }: Scene, frame: Frame): void {
  const hidden = rows.groups.filter(({ firstRow }) => firstRow * size.lane - scroll >= frame.lanesHeight).length;
  const y = frame.lanesTop + frame.lanesHeight - size.lane;
  pen.fillStyle = colors.panel;
  pen.fillRect(0, y + 1, size.gutter - 8, size.lane - 1);
  pen.fillStyle = colors.accent;
  pen.fillText(hidden === 0 ? '▾ more below' : `▾ ${hidden} more below`, 12, y + size.lane / 2 + 1);
}

/** Says that lanes begin above, in the corner next to the ruler. */
function drawMoreAbove(pen: Pen, { colors, rows, scroll }: Scene): void {
  const hidden = rows.groups.filter(({ firstRow }) => firstRow * size.lane < scroll).length;
  pen.fillStyle = colors.accent;
  pen.fillText(`▴ ${hidden} more above`, 12, size.overview + size.ruler / 2 + 1);
}

const shortened = (text: string, letters: number): string =>
  text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
