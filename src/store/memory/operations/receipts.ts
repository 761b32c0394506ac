import type { Digest } from '../../../core/point.ts';
import type { Receipt } from '../../../core/ports.ts';
import { compareUtf8 } from '../../../core/utf8.ts';
import type { HeldSession } from '../shelf.ts';

/** Keeps a receipt; the same digest and kind replaces the older one. */
export function putReceipt(session: HeldSession, { digest, kind, createdAt, body }: Receipt): void {
  session.receipts.set(`${digest} ${kind}`, { digest, kind, createdAt, body: structuredClone(body) });
}

/** The receipts of a point, by kind. */
export function findReceipts(session: HeldSession, digest: Digest): Receipt[] {
  const found = [...session.receipts.values()].filter((receipt) => receipt.digest === digest);
  return found
    .sort((a, b) => compareUtf8(a.kind, b.kind))
    .map((receipt) => ({ ...receipt, body: structuredClone(receipt.body) }));
}
