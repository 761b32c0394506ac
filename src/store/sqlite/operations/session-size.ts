import type { SessionRef } from '../../../core/store/event-store.ts';
import type { SessionSize } from '../../../core/store/session-size.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Database } from '../database.ts';

const sizeSql = `
SELECT (SELECT count(*) FROM branches WHERE session_id = :id),
  (SELECT count(*) FROM events WHERE session_id = :id),
  (SELECT coalesce(sum(octet_length(data)), 0) FROM events WHERE session_id = :id),
  (SELECT coalesce(sum(bytes), 0) FROM part_holders WHERE session_id = :id),
  (SELECT count(*) FROM snapshots WHERE branch_id IN (SELECT id FROM branches WHERE session_id = :id)),
  (SELECT coalesce(sum(octet_length(value)), 0) FROM snapshots WHERE branch_id IN (SELECT id FROM branches WHERE session_id = :id))`.replaceAll(
  ':id',
  '?1',
);

/** Measures a session; undefined if there is none. */
export function sessionSize(database: Database, catalogue: Catalogue, ref: SessionRef): SessionSize | undefined {
  const session = catalogue.session(ref);
  if (session === undefined) return undefined;
  const [branches, events, eventBytes, partBytes, snapshots, snapshotBytes] = database.one<
    [number, number, number, number, number, number]
  >(sizeSql, session.id);
  return { branches, events, eventBytes, partBytes, snapshots, snapshotBytes };
}
