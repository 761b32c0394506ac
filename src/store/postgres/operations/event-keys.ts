import type { PartInput } from '../../../core/parts/parts.ts';
import type { Digest, Seq } from '../../../core/point.ts';
import { storedKeys } from '../../../core/store/event-keys.ts';
import { Lookup, settle } from '../appending/lookup.ts';
import type { Queries } from '../connection.ts';
import type { SessionKey } from '../session-row.ts';
import { eventAtSql } from './event-at.ts';
import { findParts } from './parts.ts';

/** The columns of an event that its keys are made from. */
export type KeyedRow = readonly [id: string, type: string, agent: string | null, data: string | null];

/** Returns the keys of an event, read from its stored payload; none if the payload is gone. */
export async function eventKeys(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  seq: Seq,
): Promise<readonly string[]> {
  const row = await queries.get<KeyedRow>(
    `SELECT id, type, agent, data FROM ${eventAtSql}`,
    session.namespaceId,
    session.id,
    branchId,
    seq,
  );
  return row === undefined ? [] : await keysOfRow(queries, session, row);
}

/** Returns the keys of an event from its columns. */
export async function keysOfRow(
  queries: Queries,
  session: SessionKey,
  [id, type, agent, data]: KeyedRow,
): Promise<readonly string[]> {
  const parts = new Lookup<Digest, PartInput>(async (digest) =>
    (await findParts(queries, session, [digest])).get(digest),
  );
  return await settle(() => storedKeys({ id, type, agent, data }, (digest) => parts.get(digest)));
}
