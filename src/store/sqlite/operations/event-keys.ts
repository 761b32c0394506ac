import { specOf } from '../../../core/event/catalogue.ts';
import type { JsonObject } from '../../../core/json.ts';
import { DataDecoder } from '../../../core/parts/decode.ts';
import { keysOf } from '../../../core/parts/encode.ts';
import type { Seq } from '../../../core/point.ts';
import type { SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { heldPart } from './parts.ts';

/** What an event is indexed under, told from its stored payload; nothing if that is gone. */
export function eventKeys(database: Database, session: SessionRow, branchId: number, seq: Seq): readonly string[] {
  const row = database.get<[string, string | null, string | null]>(
    'SELECT type, agent, data FROM events WHERE branch_id = ? AND seq = ?',
    branchId,
    seq,
  );
  return row === undefined ? [] : keysOfRow(database, session, row);
}

/** What an event is indexed under, from its columns. */
export function keysOfRow(
  database: Database,
  session: SessionRow,
  [type, agent, data]: readonly [type: string, agent: string | null, data: string | null],
): readonly string[] {
  const isCarrier = type === 'event.replaced' || type === 'event.inserted';
  if (data === null || (!isCarrier && specOf(type)?.keys === undefined)) return [];
  const decoder = new DataDecoder({ get: (digest) => heldPart(database, session, digest), isErased: () => true });
  return keysOf({ type, agent: agent ?? undefined, data: decoder.decode(data) });
}

/** The keys that a `payload.erased` event keeps for what was erased, by seq. */
export function erasedKeys(data: string): ReadonlyMap<Seq, readonly string[]> {
  const { keys } = JSON.parse(data) as JsonObject;
  return new Map(
    Object.entries((keys ?? {}) as Record<string, readonly string[]>).map(([seq, held]) => [Number(seq) as Seq, held]),
  );
}
