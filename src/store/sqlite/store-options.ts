import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Platform } from '../../core/store/event-store.ts';
import type { Migration } from './migrate.ts';
import type { OpenedFile } from './opened-file.ts';

/** How to open a SQLite store. */
export interface SqliteStoreOptions {
  /** The file; a missing directory is created. */
  readonly path: string;
  readonly platform: Platform;
  /** `disk` (the default) survives power loss; `process` survives the death of the process only, and is faster. */
  readonly durability?: 'disk' | 'process';
  /** Opens for reading only. A file without write permission is always opened that way. */
  readonly readOnly?: boolean;
  /** How long to wait for a different process before `store.busy`: 10 s if left out, 0 to try once, 10 minutes at most. */
  readonly busyWaitMs?: number;
  /** Whether to create a missing file; true if left out. */
  readonly create?: boolean;
}

/** The options that opening takes. */
export const openKeys: KnownKeys = optionKeys<SqliteStoreOptions>(
  'open the store',
  { path: true, platform: true, durability: true, readOnly: true, busyWaitMs: true, create: true },
  'openSqliteStore',
);

/** The options of a store whose file is open. */
export interface OpenOptions extends SqliteStoreOptions {
  readonly migrations: readonly Migration[];
  readonly busyWaitMs: number;
  readonly isReadOnly: boolean;
  readonly file: OpenedFile;
}
