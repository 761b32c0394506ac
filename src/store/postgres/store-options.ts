import { RepriseError } from '../../core/error.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkLimit, limits } from '../../core/limits.ts';
import type { Platform } from '../../core/store/event-store.ts';

/** How to open a PostgreSQL store. */
export interface PostgresStoreOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Several hosts are tried in turn; `?schema=` names the schema. */
  readonly url: string;
  readonly platform: Platform;
  /** `disk` (the default) survives power loss of the server; `process` does not wait for its disk, and is faster. */
  readonly durability?: 'disk' | 'process';
  /** Opens for reading only. */
  readonly readOnly?: boolean;
  /** How long to wait for other writers, for a connection, or for a server that does not answer: 10 s if left out. */
  readonly busyWaitMs?: number;
  /** How long the server may work on one statement: 30 s if left out. */
  readonly statementTimeoutMs?: number;
  /** Connections of this store at most: 8 if left out. */
  readonly connections?: number;
  /** Whether to create a missing schema; true if left out. */
  readonly create?: boolean;
}

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
  },
  'openPostgresStore',
);

/** Refuses an unknown option. */
export function checkOptions(options: PostgresStoreOptions): void {
  checkKeys(options, openKeys);
}

/** The times that a store waits, and its connections. */
interface StoreBounds {
  readonly busyWaitMs: number;
  readonly connectWaitMs: number;
  readonly statementTimeoutMs: number;
  readonly connectionsMax: number;
}

/** Returns the times and connections of a store, or throws if one of them is not usable. */
export function checkedBounds(options: PostgresStoreOptions): StoreBounds {
  const busyWaitMs = checkWait('busyWaitMs', options.busyWaitMs ?? limits.busyWaitMsMax);
  return {
    busyWaitMs,
    connectWaitMs: Math.min(Math.max(busyWaitMs, 1_000), limits.connectWaitMsMax),
    statementTimeoutMs: checkWait('statementTimeoutMs', options.statementTimeoutMs ?? limits.statementMsMax),
    connectionsMax: checkConnections(options.connections ?? limits.connectionsMax),
  };
}

/** Returns a wait, or throws if it is not usable. */
function checkWait(name: string, waitMs: number): number {
  if (!(typeof waitMs === 'number' && waitMs >= 0))
    throw new RepriseError('option.invalid', `Cannot use ${String(waitMs)} as ${name}: it is not a number from 0`, {
      hint: `Give ${name} in milliseconds.`,
    });
  checkLimit('busyWaitGivenMsMax', waitMs, 'wait so long for the server');
  return waitMs;
}

/** Returns a number of connections, or throws if it is not usable. */
function checkConnections(count: number): number {
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
