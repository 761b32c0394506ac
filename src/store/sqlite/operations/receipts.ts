import { limits } from '../../../core/limits.ts';
import type { Digest } from '../../../core/point.ts';
import type { Receipt } from '../../../core/store/event-store.ts';
import type { ReceiptsRequest } from '../../../core/store/receipt.ts';
import { type ReceiptRow, receiptColumns, receiptOf } from '../../sql/receipt-row.ts';
import type { Database } from '../database.ts';

/** Keeps a receipt; it replaces an older one of the same digest and kind. */
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

/** Returns the receipts of a point, by kind. */
export function findReceipts(database: Database, sessionId: number, digest: Digest): Receipt[] {
  const sql = `SELECT ${receiptColumns} FROM receipts WHERE session_id = ? AND digest = ? ORDER BY kind`;
  return database.all<ReceiptRow>(sql, sessionId, digest).map(receiptOf);
}

/** Returns the receipts of a session by digest and kind, after one of them. */
export function heldReceipts(database: Database, sessionId: number, { limit, after }: ReceiptsRequest): Receipt[] {
  const rows = database.all<ReceiptRow>(
    `SELECT ${receiptColumns} FROM receipts WHERE session_id = ? AND (digest, kind) > (?, ?)
     ORDER BY digest, kind LIMIT ?`,
    sessionId,
    after?.digest ?? '',
    after?.kind ?? '',
    Math.min(limit, limits.pageEventsMax),
  );
  return rows.map(receiptOf);
}
