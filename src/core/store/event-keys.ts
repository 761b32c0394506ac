import { specOf } from '../event/catalogue.ts';
import { editedKey, isEdited } from '../event/edit-id.ts';
import { isObject } from '../json.ts';
import { DataDecoder, storedJson } from '../parts/decode.ts';
import { indexKeysOf } from '../parts/encode.ts';
import type { PartInput } from '../parts/parts.ts';
import type { Digest, Seq } from '../point.ts';
import type { StoredEvent } from './stored-event.ts';

/** Returns true if events of a type carry a different event in their data, under whose keys they are indexed. */
export function carriesEvent(type: string): boolean {
  return type === 'event.replaced' || type === 'event.inserted';
}

/** Returns the keys of a stored event, read from its payload; none if the payload is gone. */
export function storedKeys(
  { id, type, agent, data }: Pick<StoredEvent, 'id' | 'type' | 'agent' | 'data'>,
  partOf: (digest: Digest) => PartInput | undefined,
): readonly string[] {
  if (data === null) return [];
  if (!carriesEvent(type) && specOf(type)?.keys === undefined) return isEdited({ id, type }) ? [editedKey] : [];
  const decoder = new DataDecoder({ get: partOf, isErased: () => true });
  return indexKeysOf({ id, type, agent: agent ?? undefined, data: decoder.decode(data) });
}

/** Returns the keys that a `payload.erased` event keeps for the events it erased, by seq. */
export function erasedKeys(data: string): ReadonlyMap<Seq, readonly string[]> {
  const marker: unknown = storedJson(data);
  const keys = isObject(marker) && isObject(marker['keys']) ? marker['keys'] : {};
  return new Map(Object.entries(keys).map(([seq, held]) => [Number(seq) as Seq, textsIn(held)]));
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
