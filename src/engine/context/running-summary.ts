import type { Event } from '../../core/event/event.ts';
import type { Digest } from '../../core/point.ts';
import type { SummaryState } from '../../projections/summary.ts';

/** The summary of a branch, updated with each event this process appends, so that nothing has to be read again. */
export interface RunningSummary {
  /** The last event it includes. */
  last: Pick<Event, 'seq' | 'digest'>;
  value: SummaryState;
  /** The digest of the first event: a session that was deleted and created again has a different one. */
  readonly anchor: Digest;
  /** The session's count of erasures when the summary began: it may hold text that was erased since. */
  readonly erasures: number;
}
