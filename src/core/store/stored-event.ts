import type { Digest, Seq } from '../point.ts';

/** An event as a store keeps it. */
export interface StoredEvent {
  readonly branch: string;
  readonly seq: Seq;
  readonly id: string;
  readonly time: string;
  readonly type: string;
  readonly version: number;
  readonly agent: string | null;
  readonly run: string | null;
  readonly turn: number;
  readonly cause: string | null;
  readonly causeSeq: Seq | null;
  readonly digest: Digest;
  /** The skeleton; null when the payload was erased, or when the caller asked for headers only. */
  readonly data: string | null;
  /** Null when the payload was erased; undefined unless `select` is `proof`. */
  readonly salt?: string | null;
  /** Kept only for an erased payload; undefined unless `select` is `proof`. */
  readonly dataDigest?: Digest | null;
  readonly erased: boolean;
}
