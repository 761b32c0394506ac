import type { EventFilter } from '../../core/event/filter.ts';
import { isoTime } from '../../core/time.ts';

/** One condition on a column of an event. Each database writes it in its own dialect. */
export type HeaderTerm =
  | { readonly column: 'type'; readonly operator: 'in'; readonly value: readonly string[] }
  /** The agent's name contains this text, which is lower-cased, in any case of letters. */
  | { readonly column: 'agent'; readonly operator: 'contains'; readonly value: string }
  | { readonly column: 'agent' | 'run' | 'time'; readonly operator: '=' | '>=' | '<='; readonly value: string }
  | { readonly column: 'turn' | 'seq'; readonly operator: '=' | '>' | '<='; readonly value: number };

/** A condition on a clock that only rises along a branch: no event passes before the clock has reached it. */
export type ClockTerm =
  | { readonly column: 'time'; readonly operator: '>='; readonly value: string }
  | { readonly column: 'turn'; readonly operator: '>'; readonly value: number };

/** Returns the part of a filter that the columns of an event can decide. */
export function headerTerms(filter: EventFilter): HeaderTerm[] {
  const terms: HeaderTerm[] = [];
  const { types, agent, run, turn, until, after, through } = filter;
  if (types !== undefined) terms.push({ column: 'type', operator: 'in', value: types });
  if (agent?.startsWith('~') === true)
    terms.push({ column: 'agent', operator: 'contains', value: agent.slice(1).toLowerCase() });
  else if (agent !== undefined) terms.push({ column: 'agent', operator: '=', value: agent });
  if (run !== undefined) terms.push({ column: 'run', operator: '=', value: run });
  if (turn !== undefined) terms.push({ column: 'turn', operator: '=', value: turn });
  terms.push(...clockTerms(filter));
  if (until !== undefined) terms.push({ column: 'time', operator: '<=', value: isoTime(until) });
  if (after !== undefined) terms.push({ column: 'seq', operator: '>', value: after });
  if (through !== undefined) terms.push({ column: 'seq', operator: '<=', value: through });
  return terms;
}

/** Returns the conditions of a filter on clocks that only rise. */
export function clockTerms({ turnAfter, since }: EventFilter): ClockTerm[] {
  const terms: ClockTerm[] = [];
  if (turnAfter !== undefined) terms.push({ column: 'turn', operator: '>', value: turnAfter });
  if (since !== undefined) terms.push({ column: 'time', operator: '>=', value: isoTime(since) });
  return terms;
}
