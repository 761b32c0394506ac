import type { Point, Seq } from '../../../core/point.ts';
import type { StoredEvent } from '../../../core/store/event-store.ts';
import { type EventRow, eventColumns, eventOf } from '../../sql/event-row.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { Queries } from '../connection.ts';
import type { SessionKey } from '../session-row.ts';

// The range with an order is one look into the index of ids. With a plain comparison PostgreSQL may go through the whole
// session instead, as long as it has no statistics of the table.
const fromSql = `FROM unnest($3::text[]) asked (id)
JOIN LATERAL (SELECT * FROM events WHERE namespace_id = $1 AND session_id = $2 AND id >= asked.id ORDER BY id LIMIT 1) e ON e.id = asked.id
JOIN branches b ON b.namespace_id = $1 AND b.session_id = $2 AND b.id = e.branch_id`;

/** Returns the places of events, by id. */
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

/** Returns stored events by id, with their data. */
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
  return new Map(rows.map((row) => [row[1], eventOf(row[14], row, 'full')]));
}
