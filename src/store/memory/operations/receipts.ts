import { limits } from '../../../core/limits.ts';
import type { Digest } from '../../../core/point.ts';
import type { Receipt } from '../../../core/store/event-store.ts';
import type { ReceiptsRequest } from '../../../core/store/receipt.ts';
import { compareUtf8 } from '../../../core/utf8.ts';
import type { HeldSession } from '../shelf.ts';

/** Keeps a receipt; it replaces an older one of the same digest and kind. */
export function putReceipt(session: HeldSession, { digest, kind, createdAt, body }: Receipt): void {
  session.receipts.set(`${digest} ${kind}`, { digest, kind, createdAt, body: structuredClone(body) });
}

/** Returns the receipts of a point, by kind. */
export function findReceipts(session: HeldSession, digest: Digest): Receipt[] {
  const found = [...session.receipts.values()].filter((receipt) => receipt.digest === digest);
  return found
    .sort((a, b) => compareUtf8(a.kind, b.kind))
    .map((receipt) => ({ ...receipt, body: structuredClone(receipt.body) }));
}

/** Returns the receipts of a session by digest and kind, after one of them. */
export function heldReceipts(session: HeldSession, { limit, after }: ReceiptsRequest): Receipt[] {
  const order = (a: Pick<Receipt, 'digest' | 'kind'>, b: typeof a): number =>
    compareUtf8(a.digest, b.digest) || compareUtf8(a.kind, b.kind);
  return [...session.receipts.values()]
    .filter((receipt) => after === undefined || order(receipt, after) > 0)
    .sort(order)
    .slice(0, Math.min(limit, limits.pageEventsMax))
    .map((receipt) => ({ ...receipt, body: structuredClone(receipt.body) }));
}
