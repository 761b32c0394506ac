/** The pen of a canvas. */
export type Pen = CanvasRenderingContext2D;

/** The font of names and seqs. */
export const monoFont = '10.5px "JetBrains Mono Variable", ui-monospace, monospace';

/** The font of labels. */
export const labelFont = '11px "Inter Variable", system-ui, sans-serif';

/** The width of a letter of the mono font, to tell what fits without measuring. */
export const letter = 6.3;

/** Draws inside a box. */
export function clipped(
  pen: Pen,
  [x, y, width, height]: readonly [number, number, number, number],
  draw: () => void,
): void {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  draw();
  pen.restore();
}

/** Draws a thin line. */
export function line(
  pen: Pen,
  color: string,
  [x0, y0]: readonly [number, number],
  [x1, y1]: readonly [number, number],
): void {
  pen.strokeStyle = color;
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}
