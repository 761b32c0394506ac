import type { JsonObject } from '../../../core/json.ts';
import { limits } from '../../../core/limits.ts';
import type { Digest } from '../../../core/point.ts';
import type { Receipt } from '../../../core/store/event-store.ts';
import type { ReceiptsRequest } from '../../../core/store/session-request.ts';
import type { Database } from '../database.ts';

/** Keeps a receipt; the same digest and kind replaces the older one. */
export function putReceipt(database: Database, sessionId: number, { digest, kind, createdAt, body }: Receipt): void {
  database.run(
    'INSERT OR REPLACE INTO receipts (session_id, digest, kind, created_at, body) VALUES (?, ?, ?, ?, ?)',
    sessionId,
    digest,
    kind,
    createdAt,
    JSON.stringify(body),
  );
}

/** The receipts of a point, by kind. */
export function findReceipts(database: Database, sessionId: number, digest: Digest): Receipt[] {
  const rows = database.all<[string, string, string]>(
    'SELECT kind, created_at, body FROM receipts WHERE session_id = ? AND digest = ? ORDER BY kind',
    sessionId,
    digest,
  );
  return rows.map(([kind, createdAt, body]) => ({ digest, kind, createdAt, body: JSON.parse(body) as JsonObject }));
}

/** The receipts of a session by digest and kind, after one of them. */
export function heldReceipts(database: Database, sessionId: number, { limit, after }: ReceiptsRequest): Receipt[] {
  const rows = database.all<[Digest, string, string, string]>(
    `SELECT digest, kind, created_at, body FROM receipts WHERE session_id = ? AND (digest, kind) > (?, ?)
     ORDER BY digest, kind LIMIT ?`,
    sessionId,
    after?.digest ?? '',
    after?.kind ?? '',
    Math.min(limit, limits.pageEventsMax),
  );
  return rows.map(([digest, kind, createdAt, body]) => ({
    digest,
    kind,
    createdAt,
    body: JSON.parse(body) as JsonObject,
  }));
}
