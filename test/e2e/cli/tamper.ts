/** Damages and locks the store of a place, as no program of ours does. */
import { DatabaseSync } from 'node:sqlite';
import { hold as holdOnServer, tamper as tamperOnServer } from '../../postgres/place.ts';
import { isOnServer, type Place } from './run.ts';

/** Runs SQL past the store. */
export async function tamper(place: Place, sql: string): Promise<void> {
  if (!isOnServer) {
    const database = new DatabaseSync(place.store);
    database.exec(sql);
    database.close();
    return;
  }
  await tamperOnServer(place.url, sql);
}

/** Makes the store look as if a later release had written it. */
export async function markNewer(place: Place): Promise<void> {
  await tamper(
    place,
    isOnServer ? `INSERT INTO schema_versions (version, release) VALUES (999, '9.0.0')` : 'PRAGMA user_version = 999',
  );
}

/** Holds what every writer needs, as another writer would, until it is let go of. */
export async function holdWriters(place: Place): Promise<() => Promise<void>> {
  if (!isOnServer) return hold(place.store, 'BEGIN IMMEDIATE');
  return await holdOnServer(place.url, 'SELECT 1 FROM sessions FOR UPDATE');
}

/** Holds what everybody needs, readers too, until it is let go of. */
export async function holdEverybody(place: Place): Promise<() => Promise<void>> {
  if (!isOnServer)
    return hold(place.store, 'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  return await holdOnServer(place.url, 'LOCK TABLE schema_versions, sessions IN ACCESS EXCLUSIVE MODE');
}

function hold(store: string, sql: string): () => Promise<void> {
  const database = new DatabaseSync(store);
  database.exec(sql);
  return async () => {
    database.exec('ROLLBACK');
    database.close();
    await Promise.resolve();
  };
}
