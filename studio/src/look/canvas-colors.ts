const names = [
  'page',
  'panel',
  'raised',
  'hairline',
  'border',
  'text',
  'dim',
  'faint',
  'accent',
  'model',
  'tool',
  'wire',
  'person',
  'state',
  'message',
  'ok',
  'error',
  'warning',
] as const;

/** The colors that a canvas draws with, as the current theme has them. */
export type CanvasColors = Readonly<Record<(typeof names)[number], string>>;

/** Reads the tokens as colors that a canvas knows: a canvas knows neither variables nor `light-dark()`. */
export function readColors(): CanvasColors {
  const probe = document.createElement('span');
  probe.className = 'unseen';
  document.body.append(probe);
  const colors: Partial<Record<(typeof names)[number], string>> = {};
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    colors[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return colors as CanvasColors;
}
