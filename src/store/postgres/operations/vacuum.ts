import type { Database } from '../database.ts';

/** Vacuums the tables, whose free space still has erased content. "reprise doctor" tells a user who may not. */
export async function vacuum(database: Database): Promise<void> {
  for (const table of ['events', 'event_keys', 'parts', 'snapshots'])
    await database.run(`VACUUM ${table}`).catch(() => {});
}
