import { hasCode, type RepriseError } from '../../core/error.ts';
import type { Seq } from '../../core/point.ts';

/** The first damage that a verification found. */
export class Bad extends Error {
  readonly seq: Seq;

  constructor(seq: Seq, reason: string) {
    super(reason);
    this.seq = seq;
  }
}

/** Returns true if an error says that the store is damaged. */
export function isDamage(error: unknown): error is RepriseError {
  return hasCode(error, 'store.damaged') || hasCode(error, 'part.damaged');
}
