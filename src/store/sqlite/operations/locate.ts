import type { Point, Seq } from '../../../core/point.ts';
import type { StoredEvent } from '../../../core/store/event-store.ts';
import { type EventRow, eventColumns, eventOf } from '../../sql/event-row.ts';
import type { SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';

// CROSS JOIN keeps the order; otherwise SQLite goes through every event of the session to find a few.
const placesSql = `
SELECT e.id, b.name, e.seq, e.turn FROM json_each(?) asked
CROSS JOIN events e ON e.session_id = ? AND e.id = asked.value CROSS JOIN branches b ON b.id = e.branch_id`;

/** Returns the places of events, by id. */
export function findPlaces(
  database: Database,
  session: SessionRow,
  ids: readonly string[],
): ReadonlyMap<string, Point & { readonly turn: number }> {
  const rows = database.all<[string, string, Seq, number]>(placesSql, JSON.stringify(ids), session.id);
  return new Map(rows.map(([id, branch, seq, turn]) => [id, { branch, seq, turn }]));
}

const eventsSql = `
SELECT ${eventColumns.full}, b.name FROM json_each(?) asked
CROSS JOIN events e ON e.session_id = ? AND e.id = asked.value CROSS JOIN branches b ON b.id = e.branch_id`;

/** Returns stored events by id, with their data. */
export function findEvents(
  database: Database,
  session: SessionRow,
  ids: readonly string[],
): ReadonlyMap<string, StoredEvent> {
  const rows = database.all<[...EventRow, string]>(eventsSql, JSON.stringify(ids), session.id);
  return new Map(rows.map((row) => [row[1], eventOf(row[14], row, 'full')]));
}
