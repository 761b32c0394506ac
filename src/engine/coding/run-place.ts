import { hasCode, RepriseError } from '../../core/error.ts';
import { checkId } from '../../core/id.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, placeAt } from '../history/place.ts';

/** Looks up the boundary of a run: its end, else its last event before its agent's next run starts. */
export async function runPlace(engine: Engine, session: string, branch: string, run: string): Promise<Place> {
  checkId('run', run);
  try {
    return await placeAt(engine, session, branch, { kind: 'run', run });
  } catch (error) {
    if (!hasCode(error, 'point.out-of-range')) throw error;
    throw new RepriseError(
      'run.not-found',
      `Cannot find run "${run}" on "${branch}" of session "${session}": no event carries it`,
      {
        hint: 'List the runs with the "runs" projection.',
        details: { run },
        cause: error,
      },
    );
  }
}
