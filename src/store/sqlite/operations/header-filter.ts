import type { EventFilter } from '../../../core/event/filter.ts';
import { isoTime } from '../../../core/time.ts';
import type { Bound } from '../database.ts';
import { type Reached, timeReached, turnPassed } from './clocks.ts';

/** Conditions on an event `e` as SQL, and what they are given. */
export interface Conditions {
  readonly sql: string;
  readonly values: readonly Bound[];
  /** What a clock of the branch must have reached before the first event can pass. */
  readonly reached: readonly Reached[];
}

/** Every event. */
export const noConditions: Conditions = { sql: '', values: [], reached: [] };

/** The part of a filter that the columns of an event can decide. */
export function conditionsOf(filter: EventFilter | undefined): Conditions {
  if (filter === undefined) return noConditions;
  const terms: string[] = [];
  const values: Bound[] = [];
  const reached: Reached[] = [];
  const add = (term: string, value: Bound): void => {
    terms.push(` AND ${term}`);
    values.push(value);
  };
  if (filter.types !== undefined) add('e.type IN (SELECT value FROM json_each(?))', JSON.stringify(filter.types));
  if (filter.agent?.startsWith('~') === true) add('holds_folded(e.agent, ?)', filter.agent.slice(1).toLowerCase());
  else if (filter.agent !== undefined) add('e.agent = ?', filter.agent);
  if (filter.run !== undefined) add('e.run = ?', filter.run);
  if (filter.turn !== undefined) add('e.turn = ?', filter.turn);
  if (filter.turnAfter !== undefined) {
    add('e.turn > ?', filter.turnAfter);
    reached.push(turnPassed(filter.turnAfter));
  }
  if (filter.since !== undefined) {
    const since = isoTime(filter.since);
    add('e.time >= ?', since);
    reached.push(timeReached(since));
  }
  if (filter.until !== undefined) add('e.time <= ?', isoTime(filter.until));
  if (filter.after !== undefined) add('e.seq > ?', filter.after);
  if (filter.through !== undefined) add('e.seq <= ?', filter.through);
  return { sql: terms.join(''), values, reached };
}
