import type { EventFilter } from '../../../core/event/filter.ts';
import { type ClockTerm, clockTerms, type HeaderTerm, headerTerms } from '../../sql/header-terms.ts';
import type { Bound } from '../database.ts';

/** Conditions on an event `e` as SQL, with their values. */
export interface Conditions {
  readonly sql: string;
  readonly values: readonly Bound[];
  /** Conditions on clocks, which let a reader skip the start of a branch. */
  readonly clocks: readonly ClockTerm[];
}

/** Conditions that every event passes. */
export const noConditions: Conditions = { sql: '', values: [], clocks: [] };

/** Returns the part of a filter that the columns of an event can decide. */
export function conditionsOf(filter: EventFilter | undefined): Conditions {
  if (filter === undefined) return noConditions;
  const terms = headerTerms(filter);
  return {
    sql: terms.map((term) => ` AND ${sqlOf(term)}`).join(''),
    values: terms.map(({ value }) => (typeof value === 'object' ? JSON.stringify(value) : value)),
    clocks: clockTerms(filter),
  };
}

function sqlOf({ column, operator }: HeaderTerm): string {
  if (operator === 'in') return `e.${column} IN (SELECT value FROM json_each(?))`;
  return operator === 'contains' ? `holds_folded(e.${column}, ?)` : `e.${column} ${operator} ?`;
}
