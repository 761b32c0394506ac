import type { Style } from '../terminal/output.ts';

/** Returns the color of an outcome: green for ok, red for an error, yellow for anything that was stopped. */
export function outcomeStyle(outcome: string | null | undefined): Style {
  if (outcome === 'ok') return 'green';
  if (outcome === 'error') return 'red';
  return outcome === null || outcome === undefined || outcome === '' ? 'dim' : 'yellow';
}
