import { clipped, letter, monoFont, type Pen } from './pen.ts';
import { barPixels, type Frame, pixelOf, type Scene, size } from './scene.ts';

/** Draws the selected point, the pin, what is under the pointer and what is dragged. */
export function drawPoints(pen: Pen, scene: Scene, frame: Frame): void {
  const { colors, index, positions, selected, pinned, hovered } = scene;
  if (scene.drag !== undefined) drawDrag(pen, scene, frame, scene.drag);
  if (hovered !== undefined) drawOutline(pen, scene, frame, hovered, colors.border);
  if (pinned !== undefined)
    drawPoint(pen, scene, frame, { at: positions.at[pinned] ?? 0, color: colors.person, label: `pin ${pinned}` });
  drawCause(pen, scene, frame);
  drawOutline(pen, scene, frame, selected, colors.accent);
  // The place of an event is known once the event is there; @0 is before the first.
  if (selected === 0 || index.has(selected))
    drawPoint(pen, scene, frame, { at: positions.at[selected] ?? 0, color: colors.accent, label: `@${selected}` });
}

interface PointMark {
  readonly at: number;
  readonly color: string;
  readonly label: string;
}

function drawPoint(pen: Pen, scene: Scene, frame: Frame, { at, color, label }: PointMark): void {
  const x = Math.round(pixelOf(scene, at));
  if (x < size.gutter - 2 || x > scene.width) return;
  pen.fillStyle = color;
  pen.fillRect(x - 1, size.overview + 2, 2, frame.height - size.overview - 4);
  pen.font = `600 ${monoFont}`;
  const wide = label.length * (letter + 0.3) + 8;
  const left = x + wide > scene.width ? x - wide : x;
  pen.fillRect(left, size.overview + 2, wide, size.ruler - 3);
  pen.fillStyle = scene.colors.panel;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  pen.fillText(label, left + 4, size.overview + size.ruler / 2 + 1);
}

function drawOutline(pen: Pen, scene: Scene, frame: Frame, seq: number, color: string): void {
  const place = barOf(scene, seq);
  if (place === undefined) return;
  const { from, to } = barPixels(scene, place);
  const y = frame.lanesTop + (scene.rows.bars.row[place] ?? 0) * size.lane - scene.scroll + 1;
  if (y < frame.lanesTop || y > frame.lanesTop + frame.lanesHeight - size.lane + 2) return;
  const left = Math.max(from, size.gutter) - 1;
  pen.strokeStyle = color;
  pen.lineWidth = 2;
  pen.strokeRect(left, y, Math.max(3, to - left + 1), size.lane - 2);
  pen.lineWidth = 1;
}

/** Finds the bar of the call that an event belongs to. */
function barOf({ rows: { bars }, index }: Scene, seq: number): number | undefined {
  const call = index.callOf(seq);
  if (call === undefined) return undefined;
  let low = 0;
  let high = bars.count - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const start = bars.start[middle] ?? 0;
    if (start === call) return middle;
    if (start < call) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

/** Draws a thin line from the selected call to the call that caused it. */
function drawCause(pen: Pen, scene: Scene, frame: Frame): void {
  const { index, rows, colors } = scene;
  const own = barOf(scene, scene.selected);
  const call = index.callOf(scene.selected);
  const cause = call === undefined ? 0 : (index.columns.cause[call] ?? 0);
  const other = cause === 0 ? undefined : barOf(scene, cause);
  if (own === undefined || other === undefined) return;
  const middle = (bar: number): number => frame.lanesTop + ((rows.bars.row[bar] ?? 0) + 0.5) * size.lane - scene.scroll;
  const [from, to] = [barPixels(scene, other), barPixels(scene, own)];
  clipped(pen, [size.gutter, frame.lanesTop, scene.width, frame.lanesHeight], () => {
    pen.strokeStyle = colors.accent;
    pen.globalAlpha = 0.7;
    pen.beginPath();
    pen.moveTo(Math.min(from.to, to.from), middle(other));
    pen.lineTo(to.from, middle(own));
    pen.stroke();
  });
}

function drawDrag(pen: Pen, { colors }: Scene, frame: Frame, [from, to]: readonly [number, number]): void {
  pen.globalAlpha = 0.12;
  pen.fillStyle = colors.accent;
  pen.fillRect(Math.min(from, to), size.overview, Math.abs(to - from), frame.height - size.overview);
  pen.globalAlpha = 1;
}
