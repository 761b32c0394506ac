import type { EventFilter } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { replay } from './replay.ts';

/** Which history to search: the view, or every stored event. */
export interface FindOptions {
  readonly history?: 'view' | 'raw';
}

const findKeys: KnownKeys = optionKeys<FindOptions>('find', { history: 'text' }, 'a search');

/** Returns the place of the first event in a direction that a filter matches; undefined if none does. */
export async function findEvent(
  engine: Engine,
  place: Place,
  filter: EventFilter,
  { direction = 'forward', ...options }: FindOptions & { readonly direction?: 'forward' | 'backward' } = {},
): Promise<Place | undefined> {
  checkKeys(options, findKeys);
  const { history } = options;
  for await (const { seq } of replay(engine, place, { ...given({ history }), filter, direction, limit: 1 }))
    return { ...place, seq };
  return undefined;
}
