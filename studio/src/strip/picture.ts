import { drawHistory, drawSelection } from './draw.ts';
import type { Pen } from './pen.ts';
import { type Tick, ticksOf } from './ruler.ts';
import { type Frame, type Scene, size } from './scene.ts';

/**
 * The picture of a strip. The history is drawn once for a stretch on screen and kept; selecting, hovering and dragging
 * draw over a copy of it.
 */
export class StripPicture {
  readonly #kept = document.createElement('canvas');
  #drawn: { readonly scene: Scene; readonly ratio: number; readonly labels: readonly Tick[] } | undefined;

  /** Forgets the kept picture: a font arrived. */
  forget(): void {
    this.#drawn = undefined;
  }

  /** Draws a scene on a canvas, which takes its size. */
  draw(canvas: HTMLCanvasElement, scene: Scene, frame: Frame, ratio: number): void {
    const pen = penOf(canvas, scene, ratio);
    if (pen === null) return;
    if (this.#drawn === undefined || this.#drawn.ratio !== ratio || !showsSame(this.#drawn.scene, scene)) {
      const own = penOf(this.#kept, scene, ratio);
      if (own === null) return;
      own.setTransform(ratio, 0, 0, ratio, 0, 0);
      const count = (scene.width - size.gutter) / 110;
      const ticks = ticksOf(scene.positions, scene.view, count, scene.index);
      this.#drawn = { scene, ratio, labels: drawHistory(own, scene, frame, ticks) };
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(this.#kept, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawSelection(pen, scene, frame, this.#drawn.labels);
  }
}

function penOf(canvas: HTMLCanvasElement, { width, height }: Scene, ratio: number): Pen | null {
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  return canvas.getContext('2d', { alpha: false });
}

/** The parts of a scene that the kept picture shows. The index grows in place, and then its positions are new. */
const shownParts = [
  'index',
  'positions',
  'rows',
  'overview',
  'width',
  'height',
  'scroll',
  'isMatch',
  'ticks',
  'forks',
  'colors',
] as const satisfies readonly (keyof Scene)[];

/** Returns true if two scenes differ at most in what is selected, hovered or dragged. */
function showsSame(a: Scene, b: Scene): boolean {
  return a.view.from === b.view.from && a.view.to === b.view.to && shownParts.every((part) => a[part] === b[part]);
}
