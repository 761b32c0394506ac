import type { JsonObject } from '../json.ts';
import type { Digest } from '../point.ts';

/** Evidence about a history, kept next to it. */
export interface Receipt {
  /** The digest of the point it speaks of. */
  readonly digest: Digest;
  readonly kind: string;
  readonly createdAt: string;
  readonly body: JsonObject;
}

/** How to page through the receipts of a session. */
export interface ReceiptsRequest {
  /** Receipts at most, up to `pageEventsMax`. */
  readonly limit: number;
  /** Continues after this one. */
  readonly after?: Pick<Receipt, 'digest' | 'kind'>;
}
