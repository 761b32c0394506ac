import { specOf } from '../../../core/event/catalogue.ts';
import type { JsonObject } from '../../../core/json.ts';
import { DataDecoder } from '../../../core/parts/decode.ts';
import { keysOf } from '../../../core/parts/encode.ts';
import type { PartInput } from '../../../core/parts/parts.ts';
import type { Digest, Seq } from '../../../core/point.ts';
import type { SessionKey } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { Lookup, settle } from '../lookup.ts';
import { eventAtSql } from './event-at.ts';
import { findParts } from './parts.ts';

/** What an event is indexed under, told from its stored payload; nothing if that is gone. */
export async function eventKeys(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  seq: Seq,
): Promise<readonly string[]> {
  const row = await queries.get<[string, string | null, string | null]>(
    `SELECT type, agent, data FROM ${eventAtSql}`,
    session.namespaceId,
    session.id,
    branchId,
    seq,
  );
  return row === undefined ? [] : await keysOfRow(queries, session, row);
}

/** What an event is indexed under, from its columns. */
export async function keysOfRow(
  queries: Queries,
  session: SessionKey,
  [type, agent, data]: readonly [type: string, agent: string | null, data: string | null],
): Promise<readonly string[]> {
  const isCarrier = type === 'event.replaced' || type === 'event.inserted';
  if (data === null || (!isCarrier && specOf(type)?.keys === undefined)) return [];
  const parts = new Lookup<Digest, PartInput>(async (digest) =>
    (await findParts(queries, session, [digest])).get(digest),
  );
  return await settle(() => {
    const decoder = new DataDecoder({ get: (digest) => parts.get(digest), isErased: () => true });
    return keysOf({ type, agent: agent ?? undefined, data: decoder.decode(data) });
  });
}

/** The keys that a `payload.erased` event keeps for what was erased, by seq. */
export function erasedKeys(data: string): ReadonlyMap<Seq, readonly string[]> {
  const { keys } = JSON.parse(data) as JsonObject;
  return new Map(
    Object.entries((keys ?? {}) as Record<string, readonly string[]>).map(([seq, held]) => [Number(seq) as Seq, held]),
  );
}
