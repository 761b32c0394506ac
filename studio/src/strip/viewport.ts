/** The stretch of the strip that is on screen, in units of the strip. */
export interface Viewport {
  readonly from: number;
  readonly to: number;
}

/** The smallest part of the whole that can fill the strip. */
const closest = 1e-7;

/** Returns the viewport that shows everything, with a little air on both sides. */
export function wholeView(total: number): Viewport {
  const air = total * 0.01;
  return { from: -air, to: total + air };
}

/** Zooms by a factor, and keeps the place under the pointer where it is. */
export function zoomed(view: Viewport, total: number, factor: number, at: number): Viewport {
  const whole = wholeView(total);
  const width = Math.min(whole.to - whole.from, Math.max(total * closest, (view.to - view.from) * factor));
  const part = (at - view.from) / (view.to - view.from);
  return within({ from: at - part * width, to: at + (1 - part) * width }, total);
}

/** Moves the viewport by a part of its width. */
export function panned(view: Viewport, total: number, part: number): Viewport {
  const by = (view.to - view.from) * part;
  return within({ from: view.from + by, to: view.to + by }, total);
}

/** Moves the viewport as little as needed to show a place. */
export function showing(view: Viewport, total: number, at: number): Viewport {
  const width = view.to - view.from;
  const edge = width * 0.06;
  if (at >= view.from + edge && at <= view.to - edge) return view;
  const whole = wholeView(total);
  if (at < view.from + edge && view.from <= whole.from) return view;
  if (at > view.to - edge && view.to >= whole.to) return view;
  const isNear = at > view.from - width && at < view.to + width;
  const from = !isNear ? at - width / 2 : at < view.from + edge ? at - edge : at + edge - width;
  return within({ from, to: from + width }, total);
}

/** Keeps a viewport within the whole, without changing its width. */
export function within(view: Viewport, total: number): Viewport {
  const whole = wholeView(total);
  const width = view.to - view.from;
  if (width >= whole.to - whole.from) return whole;
  const from = Math.min(Math.max(view.from, whole.from), whole.to - width);
  return { from, to: from + width };
}
