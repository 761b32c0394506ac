import { RepriseError } from '../../core/error.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkLimit } from '../../core/limits.ts';
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

/** Gives a wait back, or says what is wrong with it. */
export function checkWait(name: string, waitMs: number): number {
  if (!(typeof waitMs === 'number' && waitMs >= 0))
    throw new RepriseError('option.invalid', `Cannot use ${String(waitMs)} as ${name}: it is not a number from 0`, {
      hint: `Give ${name} in milliseconds.`,
    });
  checkLimit('busyWaitGivenMsMax', waitMs, 'wait so long for the server');
  return waitMs;
}

/** Gives a number of connections back, or says what is wrong with it. */
export function checkConnections(count: number): number {
  if (!(Number.isSafeInteger(count) && count >= 2))
    throw new RepriseError(
      'option.invalid',
      `Cannot use ${String(count)} connections: it is not a whole number from 2`,
      {
        hint: 'One writes while others read: allow two at least.',
      },
    );
  return count;
}
