import { isStructural } from '../../core/event/families/structural.ts';
import { parseKey, plainKey } from '../../core/event/keys.ts';
import { given, isObject, type JsonObject, type JsonValue, setKey, valueAt } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { rawSegments } from '../../core/view/segment.ts';
import { metadata } from '../../projections/metadata.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { foldAt } from './fold.ts';
import { checkKeyed } from './keyed.ts';
import type { Place } from './place.ts';
import { dataOf, decoderFor, readPoints } from './stored-events.ts';

/**
 * Reads the metadata of a branch at a place. It uses the key index instead of a fold, so that forking a long history is
 * as quick as forking a short one. The result is that of the `metadata` projection.
 */
export async function metadataAt(engine: Engine, place: Place): Promise<JsonObject> {
  const ref = sessionRef(engine, place.session);
  const forked = place.history.markers.findLast((marker) => marker.kind === 'forked' && marker.seq <= place.seq);
  const [event] = forked === undefined ? [] : await readPoints(engine, place.session, [forked]);
  const value: Record<string, JsonValue> = {};
  for (const [key, held] of Object.entries(isObject(event?.data['metadata']) ? event.data['metadata'] : {}))
    setKey(value, key, held);
  const segments = rawSegments(place.history, place.seq).slice(-1);
  let after: string | undefined;
  do {
    const page = await engine.store.latest(
      ref,
      segments,
      { prefix: plainKey('metadata', '') },
      { limit: limits.pageEventsMax, select: 'full', ...given({ after }) },
    );
    const decoder = await decoderFor(
      engine,
      place.session,
      page.entries.map((entry) => entry.event),
    );
    // An erased change has lost its keys and values, and a marker that carries a change is not one: the fold shows what
    // they had covered.
    if (page.entries.some(({ event: row }) => row.erased || isStructural(row.type)))
      return foldAt(engine, place, metadata);
    for (const { key, event: row } of page.entries) {
      const data = dataOf(row, decoder);
      checkKeyed(row, data, key);
      const { set } = data;
      const { name } = parseKey(key);
      const held = valueAt(set, [name]) ?? null;
      if (held === null) delete value[name];
      else setKey(value, name, held);
    }
    after = page.next;
  } while (after !== undefined);
  return value;
}
