import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { PostgresStoreOptions } from './postgres-store.ts';

const openKeys: KnownKeys = optionKeys<PostgresStoreOptions>(
  'open the store',
  {
    url: true,
    platform: true,
    durability: true,
    readOnly: true,
    busyWaitMs: true,
    statementTimeoutMs: true,
    connections: true,
    create: true,
    migrations: true,
  },
  'openPostgresStore',
);

/** Refuses an option that nobody would read. */
export function checkOptions(options: PostgresStoreOptions): void {
  checkKeys(options, openKeys);
}
