import { hasCode, RepriseError } from '../../core/error.ts';
import { checkId } from '../../core/id.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, placeAt } from '../history/place.ts';

/** Looks up the boundary of a run in the history of a place: its end, else its last event before its agent's next run starts. */
export async function runPlace(engine: Engine, within: Place, run: string): Promise<Place> {
  checkId('run', run);
  const { session, record, seq } = within;
  try {
    const found = await placeAt(engine, session, record.branch, { kind: 'run', run });
    if (found.seq <= seq) return found;
  } catch (error) {
    if (!hasCode(error, 'point.out-of-range')) throw error;
  }
  throw new RepriseError(
    'run.not-found',
    `Cannot find run "${run}" on "${record.branch}" of session "${session}" up to seq ${seq}: it is not there, or ends later`,
    {
      hint: 'List the runs with the "runs" projection.',
      details: { run },
    },
  );
}
