import type { BranchSummary } from '../store/branch-record.ts';

/** How far a reader has read a branch, or how far a branch goes now. */
export interface ReadThrough {
  /** When the branch was created, or the session's genesis: one that was deleted and made again has a different one. */
  readonly began: string;
  readonly seq: number;
  /** The digest at that seq. */
  readonly digest: string;
  /** The session's count of erasures, for a reader that keeps content. */
  readonly erasures?: number;
}

/**
 * The next move of a reader that has read a branch before. It does nothing, as nothing came since; it reads `more`, after
 * where it stopped; it is `ahead`, because it has learned events after the place it is asked about; or it begins `anew`.
 */
export type Onward = 'nothing' | 'more' | 'ahead' | 'anew';

/**
 * Says how a reader goes on from where it stopped. With `more`, a reader of a view also has to look whether markers have
 * changed what it read.
 */
export function onwardFrom(read: ReadThrough | undefined, now: ReadThrough): Onward {
  if (read === undefined || read.began !== now.began || read.erasures !== now.erasures) return 'anew';
  if (read.seq !== now.seq) return read.seq < now.seq ? 'more' : 'ahead';
  return read.digest === now.digest ? 'nothing' : 'anew';
}

/** Returns how far a stored branch goes. */
export function throughHead({
  createdAt,
  head,
  digest,
}: Pick<BranchSummary, 'createdAt' | 'digest'> & { readonly head: number }): ReadThrough {
  return { began: createdAt, seq: head, digest };
}
