import { RepriseError } from '../../core/error.ts';
import { type Engine, sessionRef } from '../context/engine.ts';

/** Deletes a whole session, if its id was given as the confirmation. */
export async function deleteSession(engine: Engine, session: string, confirm: string): Promise<void> {
  if (confirm !== session) {
    throw new RepriseError('session.not-confirmed', `Cannot delete session "${session}": it was not confirmed`, {
      hint: `Call delete({ confirm: ${JSON.stringify(session)} }). This cannot be undone.`,
    });
  }
  await engine.store.deleteSession(sessionRef(engine, session));
  engine.memories.delete(session);
}
