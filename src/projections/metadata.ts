import type { Event } from '../core/event/event.ts';
import type { Projection } from '../core/event/projection.ts';
import { isObject, type JsonObject, setKey } from '../core/json.ts';

/**
 * The metadata of a branch. `metadata.changed` overlays it and removes keys that it sets to null; `branch.forked` begins
 * a branch with its own, the parent's overlaid by what was given. What an erased change set is not known any more, not
 * even to which key: the value before it stands.
 *
 * @example
 * ```ts
 * const atTheTime = await session.stateAt('main@3', metadata);
 * ```
 */
export const metadata: Projection<JsonObject> = {
  name: 'metadata',
  version: '1',
  history: 'raw',
  types: ['metadata.changed', 'branch.forked'],
  initial: () => ({}),
  apply: (value, event) => {
    const given = givenBy(event);
    return given === undefined ? value : overlay(given.base ?? value, given.set);
  },
};

function givenBy({ type, data }: Event): { readonly set: JsonObject; readonly base?: JsonObject } | undefined {
  const { set, metadata: own } = data;
  if (type === 'metadata.changed' && isObject(set)) return { set };
  return type === 'branch.forked' && isObject(own) ? { set: own, base: {} } : undefined;
}

function overlay(base: JsonObject, set: JsonObject): JsonObject {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(base)) if (!Object.hasOwn(set, key)) setKey(result, key, base[key]);
  for (const key of Object.keys(set)) if (set[key] !== null) setKey(result, key, set[key]);
  return result as JsonObject;
}
