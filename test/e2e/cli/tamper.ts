/** What no program of ours does to a store, done to the store of a place. */
import { DatabaseSync } from 'node:sqlite';
import postgres from 'postgres';
import { isOnServer, type Place } from './run.ts';

/** Runs SQL past the store. */
export async function tamper(place: Place, sql: string): Promise<void> {
  if (!isOnServer) {
    const database = new DatabaseSync(place.store);
    database.exec(sql);
    database.close();
    return;
  }
  const client = connect(place);
  await client.unsafe(sql);
  await client.end();
}

/** Makes the store look as if a later release had written it. */
export async function markNewer(place: Place): Promise<void> {
  await tamper(
    place,
    isOnServer ? `INSERT INTO schema_changes (version, release) VALUES (999, '9.0.0')` : 'PRAGMA user_version = 999',
  );
}

/** Holds what every writer needs, as another writer would, until it is let go of. */
export async function holdWriters(place: Place): Promise<() => Promise<void>> {
  if (!isOnServer) return hold(place.store, 'BEGIN IMMEDIATE');
  return await holdOnServer(place, 'SELECT 1 FROM sessions FOR UPDATE');
}

/** Holds what everybody needs, readers too, until it is let go of. */
export async function holdEverybody(place: Place): Promise<() => Promise<void>> {
  if (!isOnServer)
    return hold(place.store, 'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  return await holdOnServer(place, 'LOCK TABLE schema_changes, sessions IN ACCESS EXCLUSIVE MODE');
}

async function holdOnServer(place: Place, sql: string): Promise<() => Promise<void>> {
  const client = connect(place);
  await client.unsafe('BEGIN');
  await client.unsafe(sql);
  return async () => {
    await client.unsafe('ROLLBACK');
    await client.end();
  };
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

function connect(place: Place): postgres.Sql {
  const url = new URL(place.url);
  const schema = url.searchParams.get('schema') ?? '';
  url.search = '';
  return postgres(url.href, { max: 1, onnotice: () => {}, connection: { search_path: schema } });
}
