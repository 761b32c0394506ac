import type { EventFilter } from '../../../core/event/filter.ts';
import { given } from '../../../core/json.ts';
import { type ClockTerm, clockTerms, type HeaderTerm, headerTerms } from '../../sql/header-terms.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { Bound } from '../connection.ts';

/** Conditions on an event `e` as SQL, with their values. */
export interface Conditions {
  /** Returns the terms; `first` is the number of the first value. */
  readonly sql: (first: number) => string;
  readonly values: readonly Bound[];
  /** Conditions on clocks, which let a reader skip the start of a branch. */
  readonly clocks: readonly ClockTerm[];
  /** A string that the agent's name must contain: the server folds the case of letters differently. */
  readonly agentContains?: string;
}

/** Conditions that every event passes. */
export const noConditions: Conditions = { sql: () => '', values: [], clocks: [] };

/** Returns the part of a filter that the columns of an event can decide. */
export function conditionsOf(filter: EventFilter | undefined): Conditions {
  if (filter === undefined) return noConditions;
  const all = headerTerms(filter);
  const terms = all.filter(({ operator }) => operator !== 'contains');
  const agentContains = all.find((term) => term.operator === 'contains')?.value;
  return {
    sql: (first) => terms.map((term, index) => ` AND ${sqlOf(term, `$${first + index}`)}`).join(''),
    values: terms.map(({ value }) => (typeof value === 'object' ? arrayLiteral(value) : value)),
    clocks: clockTerms(filter),
    ...given({ agentContains }),
  };
}

function sqlOf({ column, operator, value }: HeaderTerm, place: string): string {
  if (operator === 'in') return `e.${column} = ANY(${place}::text[])`;
  return `e.${column} ${operator} ${place}${typeof value === 'number' ? '::float8' : ''}`;
}
