import { RepriseError } from '../../core/error.ts';
import { parseKey } from '../../core/event/keys.ts';
import { booleanAt, type JsonObject, objectAt } from '../../core/json.ts';
import { indexKeysOf } from '../../core/parts/encode.ts';
import type { StoredEvent } from '../../core/store/event-store.ts';

/**
 * Refuses an event that the key index names under a key it does not have. The keys of an erased event, and those
 * of one that a marker carries, are gone with its payload; a deep verification compares them with its marker.
 */
export function checkKeyed(row: StoredEvent, data: JsonObject, key: string): void {
  const { id, type, agent } = row;
  const isErased = row.erased || booleanAt(objectAt(data['event'], 'data'), 'erased') === true;
  if (isErased || indexKeysOf({ id, type, agent: agent ?? undefined, data }).includes(key)) return;
  throw wrongKey(row, key);
}

/** Returns the error for an index that names an event under a key it does not have. */
export function wrongKey({ branch, seq }: Pick<StoredEvent, 'branch' | 'seq'>, key: string): RepriseError {
  const { kind, name } = parseKey(key);
  return new RepriseError(
    'store.damaged',
    `Cannot look up the ${kind} ${JSON.stringify(name)}: the key index names seq ${seq} of "${branch}", which is about something else`,
    { hint: 'Run "reprise repair", which rebuilds the index from the log.', details: { branch, seq, kind, name } },
  );
}
