import type { JsonObject } from '../../../core/json.ts';
import type { Digest } from '../../../core/point.ts';
import type { Receipt } from '../../../core/ports.ts';
import type { SessionKey } from '../catalogue.ts';
import type { Queries } from '../connection.ts';

/** Keeps a receipt; the same digest and kind replaces the older one. */
export async function putReceipt(
  queries: Queries,
  session: SessionKey,
  { digest, kind, createdAt, body }: Receipt,
): Promise<void> {
  await queries.run(
    `INSERT INTO receipts (namespace_id, session_id, digest, kind, created_at, body) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (namespace_id, session_id, digest, kind) DO UPDATE SET created_at = excluded.created_at, body = excluded.body`,
    session.namespaceId,
    session.id,
    digest,
    kind,
    createdAt,
    JSON.stringify(body),
  );
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
