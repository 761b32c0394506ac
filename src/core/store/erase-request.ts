import type { PartInput } from '../parts/parts.ts';
import type { Digest, Seq } from '../point.ts';
import type { AppendRequest, SessionRef } from './event-store.ts';

/** What an erasure takes away. Everything is looked up and planned by the engine; the store carries it out atomically. */
export interface EraseRequest extends SessionRef {
  /** Events whose skeleton and salt go; the data digest stays. */
  readonly events: readonly { readonly branch: string; readonly seq: Seq; readonly dataDigest: Digest }[];
  /** Parts this session forgets; a part no session of the namespace holds any more is deleted. */
  readonly parts: readonly Digest[];
  /** Parts that get a new text under their old digest: lists with a hole, bodies whose base goes. */
  readonly rewrites: readonly PartInput[];
  /** The `payload.erased` events, one append a branch, written in the same transaction. */
  readonly appends: readonly AppendRequest[];
  /**
   * Only if the session had so many erasures so far, else `append.conflict`: a rewrite that was planned before another
   * erasure would bring back what that one took.
   */
  readonly erasures?: number;
}
