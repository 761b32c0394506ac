import { columnFlags } from '../../../src/core/session/event-columns.ts';
import type { EventIndex } from '../history/event-index.ts';
import type { Positions } from './positions.ts';
import { wholeView } from './viewport.ts';

/** The whole history as columns one pixel wide. */
export interface Overview {
  /** How much happened in each column, from 0 to 1. */
  readonly density: Float32Array;
  readonly error: Uint8Array;
}

/** Counts the events in each of a number of columns. */
export function overviewOf(index: EventIndex, { at, total }: Positions, width: number): Overview {
  const columns = Math.max(1, Math.floor(width));
  const density = new Float32Array(columns);
  const error = new Uint8Array(columns);
  const { flags, known } = index.columns;
  const { from, to } = wholeView(total);
  let most = 1;
  for (let seq = 1; seq <= index.head; seq++) {
    if (known[seq] !== 1) continue;
    const column = Math.min(columns - 1, Math.max(0, Math.floor((((at[seq] ?? 0) - from) / (to - from)) * columns)));
    density[column] = (density[column] ?? 0) + 1;
    most = Math.max(most, density[column] ?? 0);
    if (((flags[seq] ?? 0) & columnFlags.error) !== 0) error[column] = 1;
  }
  // The root makes single events visible next to a crowd.
  for (let column = 0; column < columns; column++) density[column] = Math.sqrt((density[column] ?? 0) / most);
  return { density, error };
}
