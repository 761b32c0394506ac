import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { refuseCount } from './run-transaction.ts';
import type { StateListOptions } from './state-verbs.ts';

/** The options of a look at a key. */
export const getKeys: KnownKeys = optionKeys<{ at: true }>('get a key', { at: true }, 'a look');
/** The options of a look at a key at a point or version. */
export const getAtKeys: KnownKeys = optionKeys<{ point: true; seq: true; time: true; at: true; version: true }>(
  'get a key',
  { point: true, seq: 'number', time: 'text', at: true, version: 'number' },
  'a look',
);
/** The options of a list. */
export const listKeys: KnownKeys = optionKeys<StateListOptions>('list state', { at: true, limit: 'number' }, 'a list');
/** The options of a comparison. */
export const diffKeys: KnownKeys = optionKeys<{ prefix: true }>('compare state', { prefix: 'text' }, 'a comparison');

/** Returns how many entries a list may have at most. */
export function limitOf({ limit = Number.POSITIVE_INFINITY }: StateListOptions): number {
  if (limit !== Number.POSITIVE_INFINITY && (!Number.isSafeInteger(limit) || limit < 0)) refuseCount('limit', limit);
  return limit;
}
