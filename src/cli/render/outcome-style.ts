import type { Style } from '../terminal/output.ts';

/** How an outcome is coloured: what is well green, what failed red, what merely stopped yellow. */
export function outcomeStyle(outcome: string | null | undefined): Style {
  if (outcome === 'ok') return 'green';
  if (outcome === 'error') return 'red';
  return outcome === null || outcome === undefined || outcome === '' ? 'dim' : 'yellow';
}
