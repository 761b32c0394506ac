import type { Point, Seq } from '../../../core/point.ts';
import { type EventRow, eventColumns, eventOf } from '../../../core/store/event-row.ts';
import type { StoredEvent } from '../../../core/store/event-store.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { SessionKey } from '../catalogue.ts';
import type { Queries } from '../connection.ts';

// The first id that is not less, in order, is one look into the index of ids. Asked for the id itself, PostgreSQL may go
// through the whole session instead, as long as it knows nothing of the table yet.
const fromSql = `FROM unnest($3::text[]) asked (id)
JOIN LATERAL (SELECT * FROM events WHERE namespace_id = $1 AND session_id = $2 AND id >= asked.id ORDER BY id LIMIT 1) e ON e.id = asked.id
JOIN branches b ON b.namespace_id = $1 AND b.session_id = $2 AND b.id = e.branch_id`;

/** Where events stand, by id. */
export async function findPlaces(
  queries: Queries,
  session: SessionKey,
  ids: readonly string[],
): Promise<Map<string, Point & { readonly turn: number }>> {
  const rows = await queries.all<[string, string, Seq, number]>(
    `SELECT e.id, b.name, e.seq, e.turn ${fromSql}`,
    session.namespaceId,
    session.id,
    arrayLiteral(ids),
  );
  return new Map(rows.map(([id, branch, seq, turn]) => [id, { branch, seq, turn }]));
}

/** Stored events by id, with their data. */
export async function findEvents(
  queries: Queries,
  session: SessionKey,
  ids: readonly string[],
): Promise<Map<string, StoredEvent>> {
  const rows = await queries.all<[...EventRow, string]>(
    `SELECT ${eventColumns.full}, b.name ${fromSql}`,
    session.namespaceId,
    session.id,
    arrayLiteral(ids),
  );
  return new Map(rows.map((row) => [row[1], eventOf(row[14], row as unknown as EventRow, 'full')]));
}
