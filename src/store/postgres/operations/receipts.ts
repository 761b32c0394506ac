import type { JsonObject } from '../../../core/json.ts';
import { limits } from '../../../core/limits.ts';
import type { Digest } from '../../../core/point.ts';
import type { Receipt } from '../../../core/store/event-store.ts';
import type { ReceiptsRequest } from '../../../core/store/session-request.ts';
import type { SessionKey } from '../catalogue.ts';
import type { Queries } from '../connection.ts';

/**
 * Keeps a receipt; the same digest and kind replaces the older one. The session is held meanwhile: a deletion that comes now
 * waits, and then deletes this one too. Gives whether there still is such a session.
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

/** The receipts of a point, by kind. */
export async function findReceipts(queries: Queries, session: SessionKey, digest: Digest): Promise<Receipt[]> {
  const rows = await queries.all<[string, string, string]>(
    'SELECT kind, created_at, body FROM receipts WHERE namespace_id = $1 AND session_id = $2 AND digest = $3 ORDER BY kind',
    session.namespaceId,
    session.id,
    digest,
  );
  return rows.map(([kind, createdAt, body]) => ({ digest, kind, createdAt, body: JSON.parse(body) as JsonObject }));
}

/** The receipts of a session by digest and kind, after one of them. */
export async function heldReceipts(
  queries: Queries,
  session: SessionKey,
  { limit, after }: ReceiptsRequest,
): Promise<Receipt[]> {
  const rows = await queries.all<[Digest, string, string, string]>(
    `SELECT digest, kind, created_at, body FROM receipts
     WHERE namespace_id = $1 AND session_id = $2 AND (digest, kind) > ($3, $4) ORDER BY digest, kind LIMIT $5`,
    session.namespaceId,
    session.id,
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
