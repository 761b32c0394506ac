import { given } from './core/json.ts';
import type { ForeignFormat } from './core/recording/foreign-format.ts';
import type { EventStore, Platform } from './core/store/event-store.ts';
import type { TokenKeeper } from './core/store/token-store.ts';
import type { StoreLocation } from './node/store-location.ts';

/** Loads the formats that Reprise ships with: a program that imports and exports nothing should not wait for them. */
export async function loadFormats(): Promise<readonly ForeignFormat[]> {
  const { foreignFormats, writtenFormats } = await import('./adapters/import/foreign-formats.ts');
  return [...foreignFormats, ...writtenFormats];
}

/** How to open a store that needs no server; `OpenOptions` says what each of them does. */
interface OwnStoreOptions {
  readonly durability?: 'disk' | 'process';
  readonly readOnly?: boolean;
  readonly create?: boolean;
  readonly busyWaitMs?: number;
}

/** A place that can take tokens and be served. */
type OwnLocation = Exclude<StoreLocation, { kind: 'server' | 'bundle' }>;

/** Opens a store that needs no server: in memory, in a file, or in a database. */
export async function openOwnStore(
  location: OwnLocation,
  platform: Platform,
  options: OwnStoreOptions,
): Promise<EventStore & TokenKeeper> {
  // Only the store that is used is loaded: a command that prints a line should not wait for all.
  if (location.kind === 'memory') {
    const { openMemoryStore } = await import('./store/memory/memory-store.ts');
    return openMemoryStore({ platform });
  }
  const { durability, readOnly, create, busyWaitMs } = options;
  const how = {
    platform,
    ...given({ durability, readOnly, create, busyWaitMs }),
  };
  if (location.kind === 'postgres') {
    const { openPostgresStore } = await import('./store/postgres/postgres-store.ts');
    return await openPostgresStore({ url: location.url, ...how });
  }
  const { openSqliteStore } = await import('./store/sqlite/sqlite-store.ts');
  return await openSqliteStore({ path: location.path, ...how });
}
