import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import { type JsonObject, type JsonValue, objectAt, setKey } from '../core/json.ts';

/**
 * The metadata of a branch. `metadata.changed` overlays it and removes keys that it sets to null. `branch.forked` starts a
 * branch with its own: the parent's, overlaid by that of the fork. An erased change no longer says which keys it set, so
 * the values before it remain.
 *
 * @example
 * ```ts
 * const atTheTime = await session.at('main@3').fold(metadata);
 * ```
 */
export const metadata: Projection<JsonObject> = shippedProjection({
  name: 'metadata',
  version: '1',
  history: 'raw',
  types: ['metadata.changed', 'branch.forked'],
  initial: () => ({}),
  apply: (value, event) => {
    const set = objectAt(event.data, 'set');
    const own = objectAt(event.data, 'metadata');
    if (event.type === 'metadata.changed' && set !== undefined) return overlay(value, set);
    return event.type === 'branch.forked' && own !== undefined ? overlay({}, own) : value;
  },
});

function overlay(base: JsonObject, set: JsonObject): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const key of Object.keys(base)) if (!Object.hasOwn(set, key)) setKey(result, key, base[key]);
  for (const key of Object.keys(set)) if (set[key] !== null) setKey(result, key, set[key]);
  return result;
}
