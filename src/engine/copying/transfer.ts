import { RepriseError } from '../../core/error.ts';
import type { Seq } from '../../core/point.ts';
import type { RestoreRequest } from '../../core/store/event-store.ts';
import type { Engine } from '../context/engine.ts';
import type { CopyErasures } from './copy-erasures.ts';

/** The two ends of one session's copy, and its progress. */
export interface Transfer {
  readonly from: Engine;
  readonly to: Engine;
  /** The session at the source. */
  readonly session: string;
  /** The session at the target that the copy writes to. */
  readonly target: string;
  readonly erasures: CopyErasures;
  /** Events that fitted into the last batch together with their parts. */
  batchEvents: number;
  readonly signal: AbortSignal | undefined;
  readonly onWritten: (events: number) => void;
  /** Gets every batch that the target was sent. */
  readonly onBatch?: (batch: RestoreRequest) => void;
}

/** The error for a source that does not match what was recorded. */
export function damagedSource(
  { session }: Pick<Transfer, 'session'>,
  branch: string,
  seq: Seq,
  why: string,
  cause?: unknown,
): RepriseError {
  return new RepriseError('event.damaged', `Cannot copy session "${session}": "${branch}" at the source: ${why}`, {
    hint: 'Verify the session at the source: it was damaged or changed there.',
    details: { session, branch, seq },
    cause,
  });
}

/** Throws if the caller has stopped the copy. Finished batches stay, and the next copy continues after them. */
export function checkAborted({ signal, session }: Pick<Transfer, 'signal' | 'session'>): void {
  if (signal?.aborted !== true) return;
  const why = signal.reason instanceof Error ? signal.reason.message : 'the caller stopped it';
  throw new RepriseError('copy.aborted', `Cannot finish the copy of session "${session}": ${why}`, {
    hint: 'Copy again: it continues where it stopped.',
    details: { session },
    cause: signal.reason,
  });
}
