import type { Belief } from './belief.ts';
import { type FleetTable, type Held, indexOf } from './fleet-table.ts';
import { type Moment, maySee, type Registration, registrationOf } from './registration.ts';

/** Which beliefs to return. */
export interface BeliefQuery {
  /** Who committed them. */
  readonly agent?: string;
  readonly topic?: string;
  /** Through whose eyes: only what that agent may see at the moment. */
  readonly as?: string;
}

/**
 * Returns the claims that stand at a moment, in view order: committed, seen, and named by no seen supersession. Scope is
 * applied last, so an agent is shown no claim that was superseded by something it cannot see.
 */
export function activeAt(table: FleetTable, moment: Moment, query: BeliefQuery = {}): Belief[] {
  const { agent, as } = query;
  const who = as === undefined ? undefined : registrationAt(table, as, moment);
  if (as !== undefined && who === undefined) return [];
  const stands = (held: Held): boolean => {
    const { belief } = held;
    if (belief.turn > moment.turn || belief.seq > moment.seq || hasEnded(held, moment)) return false;
    return (agent === undefined || belief.agent === agent) && (as === undefined || maySee(who, belief));
  };
  const active = indexOf(table).heldAt(moment, topicsFor(query.topic, who)).filter(stands);
  return active.sort((a, b) => a.order - b.order).map(({ belief }) => belief);
}

/** Returns the topics that can be meant: the one asked for, or those in a scope; undefined for all. */
function topicsFor(topic: string | undefined, who: Registration | undefined): Iterable<string | undefined> | undefined {
  if (topic !== undefined) return [topic];
  return who === undefined || who.scope === 'all' ? undefined : [undefined, ...new Set(who.scope)];
}

/** Returns true if a claim has ended at a moment. */
function hasEnded({ end, endings }: Held, { seq, turn }: Moment): boolean {
  if (end > turn) return false;
  for (const ending of endings) if (ending.turn <= turn && ending.seq <= seq) return true;
  return false;
}

/** Returns who an agent is at a moment; undefined if it is not there. */
export function registrationAt(table: FleetTable, agent: string, moment: Moment): Registration | undefined {
  return registrationOf(indexOf(table).changesOf(agent), moment);
}

/** Returns every agent that is there at a moment, in the order in which they joined first. */
export function agentsAt(table: FleetTable, moment: Moment): Registration[] {
  return [...indexOf(table).agentNames].flatMap((agent) => registrationAt(table, agent, moment) ?? []);
}

/** The end of time, in both times: a look at it sees all that a table has. */
export const always: Moment = {
  seq: Number.POSITIVE_INFINITY,
  turn: Number.POSITIVE_INFINITY,
  now: Number.POSITIVE_INFINITY,
};
