import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { refuseCount } from './refuse-count.ts';
import type { Committed, TransactionOptions } from './transaction-work.ts';

/** How to list keys or versions. */
export interface StateListOptions {
  /** The most items to return. */
  readonly limit?: number;
}

/** Which version of a key to return. */
export interface StateGetOptions {
  /** This version instead of the last one, looked up in the view. */
  readonly version?: number;
}

/** How to run a transaction that is given as a function. */
export interface RunOptions extends TransactionOptions {
  /** How often the function is run again after a conflict: 5 times if left out. */
  readonly retries?: number;
}

/** The outcome of a transaction that was given as a function. */
export interface Ran<Result> extends Committed {
  /** The function's return value. */
  readonly result: Result;
}

/** The options of a look at a key. */
export const getKeys: KnownKeys = optionKeys<StateGetOptions>('get a key', { version: true }, 'a look');
/** The options of a list. */
export const listKeys: KnownKeys = optionKeys<StateListOptions>('list state', { limit: 'number' }, 'a list');
/** The options of a comparison. */
export const diffKeys: KnownKeys = optionKeys<{ prefix: true }>('compare state', { prefix: 'text' }, 'a comparison');

/** Returns how many entries a list may have at most. */
export function limitOf({ limit = Number.POSITIVE_INFINITY }: StateListOptions): number {
  if (limit !== Number.POSITIVE_INFINITY && (!Number.isSafeInteger(limit) || limit < 0)) refuseCount('limit', limit);
  return limit;
}
