import type { Database } from '../database.ts';

/** What was erased stays in the tables' free space until they are vacuumed. A user who may not is told by doctor. */
export async function vacuum(database: Database): Promise<void> {
  for (const table of ['events', 'event_keys', 'parts', 'snapshots'])
    await database.run(`VACUUM ${table}`).catch(() => {});
}
