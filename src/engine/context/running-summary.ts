import type { Event } from '../../core/event/event.ts';
import type { Digest } from '../../core/point.ts';
import type { SummaryState } from '../../projections/summary.ts';

/** The summary of a branch that goes on with what this process appends, so that nothing has to be read again. */
export interface RunningSummary {
  /** The last event that is in it. */
  last: Pick<Event, 'seq' | 'digest'>;
  value: SummaryState;
  /** The digest of the first event: a session that was deleted and made anew has another one. */
  readonly anchor: Digest;
  /** How often the session had been erased from when it began: it may hold words that were forgotten since. */
  readonly erasures: number;
}
