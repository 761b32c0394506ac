import type { JsonObject } from '../../core/json.ts';
import type { Digest } from '../../core/point.ts';
import type { Receipt } from '../../core/store/event-store.ts';

/** A receipt as its columns, in the order of {@link receiptColumns}. */
export type ReceiptRow = readonly [digest: Digest, kind: string, createdAt: string, body: string];

/** The columns of a receipt. */
export const receiptColumns = 'digest, kind, created_at, body';

/** Returns the receipt of a row. */
export function receiptOf([digest, kind, createdAt, body]: ReceiptRow): Receipt {
  return { digest, kind, createdAt, body: JSON.parse(body) as JsonObject };
}
