import type { EventFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Point } from '../../core/point.ts';
import type { PointInput } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import type { Placed } from '../history/place.ts';
import { replay } from './replay.ts';

/** Where to search. */
export interface FindOptions {
  /** Up to where; the head of `main` if left out. */
  readonly at?: PointInput;
  readonly history?: 'view' | 'raw';
}

const findKeys: KnownKeys = optionKeys<FindOptions>('find', { at: 'point', history: 'text' }, 'a search');

/** Returns the point of the first event that a filter matches; undefined if none does. */
export async function find(
  engine: Engine,
  where: Placed,
  filter: EventFilter,
  options: FindOptions = {},
): Promise<Point | undefined> {
  checkKeys(options, findKeys);
  const { history } = options;
  for await (const { branch, seq } of replay(engine, where, { ...given({ history }), filter, limit: 1 }))
    return { branch, seq };
  return undefined;
}

/** Returns the point of the last event that a filter matches; undefined if none does. */
export async function findLast(
  engine: Engine,
  where: Placed,
  filter: EventFilter,
  options: FindOptions = {},
): Promise<Point | undefined> {
  checkKeys(options, findKeys);
  const last = { ...given({ history: options.history }), filter, limit: 1, direction: 'backward' } as const;
  for await (const { branch, seq } of replay(engine, where, last)) return { branch, seq };
  return undefined;
}
