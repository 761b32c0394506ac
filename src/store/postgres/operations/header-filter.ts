import type { EventFilter } from '../../../core/event/filter.ts';
import { isoTime } from '../../../core/time.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { Bound } from '../connection.ts';
import { type Reached, timeReached, turnPassed } from './clocks.ts';

/** Conditions on an event `e` as SQL, and what they are given. */
export interface Conditions {
  /** The terms, given the number of the first value. */
  readonly sql: (first: number) => string;
  readonly values: readonly Bound[];
  /** What a clock of the branch must have reached before the first event can pass. */
  readonly reached: readonly Reached[];
  /** What the server cannot decide as we do; undefined if there is nothing of the kind. */
  readonly agentHolds?: string;
}

/** Every event. */
export const noConditions: Conditions = { sql: () => '', values: [], reached: [] };

/** The part of a filter that the columns of an event can decide. */
export function conditionsOf(filter: EventFilter | undefined): Conditions {
  if (filter === undefined) return noConditions;
  const terms: string[] = [];
  const values: Bound[] = [];
  const reached: Reached[] = [];
  const add = (term: string, value: Bound): void => {
    terms.push(term);
    values.push(value);
  };
  if (filter.types !== undefined) add('e.type = ANY(?::text[])', arrayLiteral(filter.types));
  const isPart = filter.agent?.startsWith('~') === true;
  if (filter.agent !== undefined && !isPart) add('e.agent = ?', filter.agent);
  if (filter.run !== undefined) add('e.run = ?', filter.run);
  if (filter.turn !== undefined) add('e.turn = ?::float8', filter.turn);
  if (filter.turnAfter !== undefined) {
    add('e.turn > ?::float8', filter.turnAfter);
    reached.push(turnPassed(filter.turnAfter));
  }
  if (filter.since !== undefined) {
    const since = isoTime(filter.since);
    add('e.time >= ?', since);
    reached.push(timeReached(since));
  }
  if (filter.until !== undefined) add('e.time <= ?', isoTime(filter.until));
  if (filter.after !== undefined) add('e.seq > ?::float8', filter.after);
  if (filter.through !== undefined) add('e.seq <= ?::float8', filter.through);
  const sql = (first: number): string =>
    terms.map((term, index) => ` AND ${term.replace('?', `$${first + index}`)}`).join('');
  const held = isPart ? (filter.agent as string).slice(1).toLowerCase() : undefined;
  return held === undefined ? { sql, values, reached } : { sql, values, reached, agentHolds: held };
}
