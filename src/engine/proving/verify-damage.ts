import { RepriseError } from '../../core/error.ts';
import type { Seq } from '../../core/point.ts';

/** The first thing that is not as it was. */
export class Bad extends Error {
  readonly seq: Seq;

  constructor(seq: Seq, reason: string) {
    super(reason);
    this.seq = seq;
  }
}

/** Whether an error says that what is stored cannot be what was stored. */
export function isDamage(error: unknown): error is RepriseError {
  return error instanceof RepriseError && (error.code === 'store.damaged' || error.code === 'part.damaged');
}
