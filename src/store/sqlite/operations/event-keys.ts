import type { Seq } from '../../../core/point.ts';
import { storedKeys } from '../../../core/store/event-keys.ts';
import type { SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { heldPart } from './parts.ts';

/** The columns of an event that its keys are made from. */
export type KeyedRow = readonly [id: string, type: string, agent: string | null, data: string | null];

/** Returns the keys of an event, read from its stored payload; none if the payload is gone. */
export function eventKeys(database: Database, session: SessionRow, branchId: number, seq: Seq): readonly string[] {
  const row = database.get<KeyedRow>(
    'SELECT id, type, agent, data FROM events WHERE branch_id = ? AND seq = ?',
    branchId,
    seq,
  );
  return row === undefined ? [] : keysOfRow(database, session, row);
}

/** Returns the keys of an event from its columns. */
export function keysOfRow(
  database: Database,
  session: SessionRow,
  [id, type, agent, data]: KeyedRow,
): readonly string[] {
  return storedKeys({ id, type, agent, data }, (digest) => heldPart(database, session, digest));
}
