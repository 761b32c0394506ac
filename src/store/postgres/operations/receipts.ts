import { limits } from '../../../core/limits.ts';
import type { Digest } from '../../../core/point.ts';
import type { Receipt } from '../../../core/store/event-store.ts';
import type { ReceiptsRequest } from '../../../core/store/receipt.ts';
import { type ReceiptRow, receiptColumns, receiptOf } from '../../sql/receipt-row.ts';
import type { Queries } from '../connection.ts';
import type { SessionKey } from '../session-row.ts';

/**
 * Keeps a receipt; it replaces an older one of the same digest and kind. Locks the session, so that a deletion waits and
 * then deletes this receipt too. Returns whether the session still exists.
 */
export async function putReceipt(
  queries: Queries,
  session: SessionKey,
  { digest, kind, createdAt, body }: Receipt,
): Promise<boolean> {
  const kept = await queries.change(
    `WITH held AS (SELECT 1 FROM sessions WHERE namespace_id = $1 AND id = $2 AND name IS NOT NULL FOR KEY SHARE)
     INSERT INTO receipts (namespace_id, session_id, digest, kind, created_at, body) SELECT $1, $2, $3, $4, $5, $6 FROM held
     ON CONFLICT (namespace_id, session_id, digest, kind) DO UPDATE SET created_at = excluded.created_at, body = excluded.body`,
    session.namespaceId,
    session.id,
    digest,
    kind,
    createdAt,
    JSON.stringify(body),
  );
  return kept > 0;
}

/** Returns the receipts of a point, by kind. */
export async function findReceipts(queries: Queries, session: SessionKey, digest: Digest): Promise<Receipt[]> {
  const rows = await queries.all<ReceiptRow>(
    `SELECT ${receiptColumns} FROM receipts WHERE namespace_id = $1 AND session_id = $2 AND digest = $3 ORDER BY kind`,
    session.namespaceId,
    session.id,
    digest,
  );
  return rows.map(receiptOf);
}

/** Returns the receipts of a session by digest and kind, after one of them. */
export async function heldReceipts(
  queries: Queries,
  session: SessionKey,
  { limit, after }: ReceiptsRequest,
): Promise<Receipt[]> {
  const rows = await queries.all<ReceiptRow>(
    `SELECT ${receiptColumns} FROM receipts
     WHERE namespace_id = $1 AND session_id = $2 AND (digest, kind) > ($3, $4) ORDER BY digest, kind LIMIT $5`,
    session.namespaceId,
    session.id,
    after?.digest ?? '',
    after?.kind ?? '',
    Math.min(limit, limits.pageEventsMax),
  );
  return rows.map(receiptOf);
}
