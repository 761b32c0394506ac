import { statSync } from 'node:fs';
import type { StoreHealth } from '../../../core/ports.ts';
import type { Database } from '../database.ts';
import { schemaVersion } from '../migrate.ts';
import { isBusy } from '../sqlite-error.ts';
import { pause } from '../writer.ts';

const problemsMax = 20;

/** What the file is, how large, how durable, and whether SQLite finds it sound. */
export function healthOf(database: Database, path: string, isReadOnly: boolean): StoreHealth {
  const [synchronous] = database.get<[number]>('PRAGMA synchronous') as [number];
  const found = database.all<[string]>(`PRAGMA quick_check(${problemsMax})`).map(([line]) => line);
  return {
    kind: 'sqlite',
    location: path,
    schema: String(schemaVersion(database)),
    bytes: fileBytes(path) + fileBytes(`${path}-wal`),
    durability: isReadOnly ? 'read-only' : synchronous >= 2 ? 'disk' : 'process',
    problems: found.filter((line) => line !== 'ok'),
  };
}

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Moves everything from the write-ahead log into the file and empties the log, so that nothing erased is left in it. A
 * reader in another process can hold it up; it is tried until the deadline, and every later commit empties it anyway.
 */
export async function truncateLog(database: Database, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  for (let attempt = 0; ; attempt++) {
    try {
      const [isBlocked] = database.get<[number]>('PRAGMA wal_checkpoint(TRUNCATE)') as [number];
      if (isBlocked === 0) return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    if (performance.now() >= deadline) return false;
    await pause(attempt);
  }
}
