import type { SessionRef } from '../../../core/store/event-store.ts';
import type { SessionSize } from '../../../core/store/session-size.ts';
import type { Queries } from '../connection.ts';
import { findSessionRow } from '../session-row.ts';

const of = (table: string): string => `FROM ${table} WHERE namespace_id = $1 AND session_id = $2`;

const sizeSql = `
SELECT (SELECT count(*) ${of('branches')}), (SELECT count(*) ${of('events')}),
  (SELECT coalesce(sum(octet_length(data)), 0) ${of('events')})::bigint,
  (SELECT coalesce(sum(bytes), 0) ${of('part_holders')})::bigint,
  (SELECT count(*) ${of('snapshots')}), (SELECT coalesce(sum(octet_length(value)), 0) ${of('snapshots')})::bigint`;

/** Measures a session; undefined if there is none. */
export async function sessionSize(queries: Queries, ref: SessionRef): Promise<SessionSize | undefined> {
  const session = await findSessionRow(queries, ref);
  if (session === undefined) return undefined;
  const [branches, events, eventBytes, partBytes, snapshots, snapshotBytes] = await queries.one<
    [number, number, number, number, number, number]
  >(sizeSql, session.namespaceId, session.id);
  return { branches, events, eventBytes, partBytes, snapshots, snapshotBytes };
}
