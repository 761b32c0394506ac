import type { Digest, Seq } from '../../core/point.ts';

/** Which sessions to copy, and how. */
export interface CopyOptions {
  /** The sessions to copy; every one of the namespace if left out, the one appended to last at the end. */
  readonly sessions?: readonly string[];
  /** Writes nothing: only reports what a copy would do, and fails where it would fail. */
  readonly dryRun?: boolean;
  /** Called with the progress of the session that is being copied. */
  readonly onProgress?: (progress: CopyProgress) => void;
  /** Stops the copy between two batches; the next copy continues there. */
  readonly signal?: AbortSignal;
}

/** The progress of one session's copy. */
export interface CopyProgress {
  readonly session: string;
  /** A copy first writes the events, then reads and checks all of them. */
  readonly stage: 'copying' | 'verifying';
  /** Events done in this stage. */
  readonly events: number;
  /** All events of this stage. */
  readonly total: number;
}

/** The outcome for one session. */
export interface CopiedSession {
  readonly session: string;
  /**
   * `copied`: it was not at the target. `updated`: it continued an earlier copy. `replaced`: a payload was erased at the
   * source since, so a new copy replaced the earlier one. `unchanged`: the target had all of it.
   */
  readonly outcome: 'copied' | 'updated' | 'replaced' | 'unchanged';
  /** Events written; with `dryRun`, events that would be written. */
  readonly written: number;
  /** Where each branch ends, at the source and at the target. */
  readonly branches: readonly { readonly branch: string; readonly head: Seq; readonly digest: Digest }[];
}

/** The outcome of a copy. */
export interface Copied {
  readonly sessions: readonly CopiedSession[];
}
