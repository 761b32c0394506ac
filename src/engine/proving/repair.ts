import type { ReindexOutcome } from '../../core/store/reindex-request.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { sessionRecord } from '../history/place.ts';

/** The result of a repair: how many rows of derived data the log contradicted, and the first of them. */
export type Repaired = ReindexOutcome;

/**
 * Rebuilds what a session derives from its log: the key index and the clocks. Drops its snapshots, which the next looks
 * make again. Changes no event.
 */
export async function repair(engine: Engine, session: string): Promise<Repaired> {
  await sessionRecord(engine, session);
  const ref = sessionRef(engine, session);
  const outcome = await engine.store.reindex(ref);
  await engine.store.dropSnapshots(ref);
  return outcome;
}
