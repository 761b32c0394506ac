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
 * applied last, so nobody is shown a claim that something they cannot see has superseded.
 */
export function activeAt(table: FleetTable, moment: Moment, query: BeliefQuery = {}): Belief[] {
  const { agent, as } = query;
  const who = as === undefined ? undefined : registrationAt(table, as, moment);
  if (as !== undefined && who === undefined) return [];
  const active: Belief[] = [];
  for (const held of heldFor(table, moment, query.topic, who)) {
    const { belief } = held;
    if (belief.turn > moment.turn || belief.seq > moment.seq || hasEnded(held, moment)) continue;
    if (agent !== undefined && belief.agent !== agent) continue;
    if (as === undefined || maySee(who, belief)) active.push(belief);
  }
  return active;
}

/** Returns the claims that can be meant, in view order: of a topic, of the topics in a scope, of a turn, or all of them. */
function heldFor(
  table: FleetTable,
  moment: Moment,
  topic: string | undefined,
  who: Registration | undefined,
): readonly Held[] {
  const index = indexOf(table);
  if (topic !== undefined) return index.onTopic(topic)?.all ?? [];
  if (who === undefined || who.scope === 'all') return index.activeAt(moment) ?? index.held;
  const shelves = [undefined, ...new Set(who.scope)].map((name) => index.onTopic(name)?.all ?? []);
  return shelves.flat().sort((a, b) => a.order - b.order);
}

/** Tells whether a claim has ended at a moment. */
function hasEnded({ end, endings }: Held, { seq, turn }: Moment): boolean {
  return end <= turn && endings.some((ending) => ending.turn <= turn && ending.seq <= seq);
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
