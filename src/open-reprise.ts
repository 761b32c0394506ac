import { createReadStream } from 'node:fs';
import { shipit } from './adapters/import/shipit.ts';
import type { EventStore, Platform } from './core/ports.ts';
import { createReprise, type Reprise } from './engine/reprise.ts';
import { createNodePlatform } from './node/platform.ts';
import { type StoreLocation, storeLocation } from './node/store-location.ts';

/** How to open Reprise. */
export interface OpenOptions {
  /** A store URL (`sqlite:PATH`, `memory:`), or a store of your own. */
  readonly store?: string | EventStore;
  /** The namespace to work in; `default` if left out. */
  readonly namespace?: string;
  /** `disk` (the default) survives power loss; `process` survives the death of the process only, and is faster. */
  readonly durability?: 'disk' | 'process';
  /** Opens for reading only. */
  readonly readOnly?: boolean;
  /** Whether a store that does not exist yet is made; true unless it is opened for reading only. */
  readonly create?: boolean;
  /**
   * How long to wait for another process that holds the file before `store.busy`: 10,000 if left out, 0 to try once.
   * Waiting never blocks the event loop.
   */
  readonly busyWaitMs?: number;
  /** Events since the last snapshot before another is worth keeping; 256 if left out. */
  readonly snapshotEvents?: number;
  /** Told how many events came with every page that was read: for showing how far something long is. */
  readonly onRead?: (events: number) => void;
  /** Clock, ids, hashing and salts: for tests that need the same history twice. */
  readonly platform?: Platform;
}

/**
 * Opens a store: `.reprise/reprise.db` of this project if nothing is said, a URL, or options.
 *
 * @example
 * ```ts
 * await using reprise = await openReprise();
 * const session = await reprise.session('incident-42', { create: true });
 * await session.append({ type: 'note.added', data: { text: 'It began at noon' } });
 * ```
 */
export async function openReprise(options: string | OpenOptions = {}): Promise<Reprise> {
  const given: OpenOptions = typeof options === 'string' ? { store: options } : options;
  const platform = given.platform ?? createNodePlatform();
  const { namespace, snapshotEvents, onRead } = given;
  const store =
    typeof given.store === 'object' ? given.store : await openStore(storeLocation(given.store), platform, given);
  return createReprise({
    store,
    platform,
    formats: [shipit],
    readFile: (path) => createReadStream(path),
    ...(namespace === undefined ? {} : { namespace }),
    ...(snapshotEvents === undefined ? {} : { snapshotEvents }),
    ...(onRead === undefined ? {} : { onRead }),
  });
}

async function openStore(location: StoreLocation, platform: Platform, options: OpenOptions): Promise<EventStore> {
  // Only the store that is used is loaded: a command that prints a line should not wait for both.
  if (location.kind === 'memory') {
    const { openMemoryStore } = await import('./store/memory/memory-store.ts');
    return openMemoryStore({ platform });
  }
  const { openSqliteStore } = await import('./store/sqlite/sqlite-store.ts');
  const { durability, readOnly, create, busyWaitMs } = options;
  return openSqliteStore({
    path: location.path,
    platform,
    ...(durability === undefined ? {} : { durability }),
    ...(readOnly === undefined ? {} : { readOnly }),
    ...(create === undefined ? {} : { create }),
    ...(busyWaitMs === undefined ? {} : { busyWaitMs }),
  });
}
