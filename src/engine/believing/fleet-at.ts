import { activeAt, agentsAt, type BeliefQuery, registrationAt } from '../../core/fleet/active.ts';
import { type Belief, checkTopic } from '../../core/fleet/belief.ts';
import { type FleetTask, tasksAt } from '../../core/fleet/fleet-task.ts';
import type { Registration } from '../../core/fleet/registration.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import type { Engine } from '../context/engine.ts';
import { type Place, type Placed, placed } from '../history/place.ts';
import { type FleetLook, fleetAtHead, fleetAtPlace, momentNow, momentOf, type OnBranch } from './fleet-look.ts';
import type { BeliefsAtOptions } from './fleet-times.ts';

/** An agent that is there, and the tasks it has taken and not ended. */
export interface FleetAgent extends Registration {
  readonly tasks: readonly string[];
}

/** Who is there at a moment, and which tasks there are. */
export interface FleetState {
  readonly agents: readonly FleetAgent[];
  readonly tasks: readonly FleetTask[];
}

/** Which beliefs of a place to return, and up to which turn; of the highest turn there is if left out. */
export type BeliefsQuery = { readonly [Name in 'turn' | 'agent' | 'topic']?: BeliefsAtOptions[Name] | undefined };

/** Returns the claims that stand at a place; through an agent's eyes if `as` names one. */
export async function beliefsAt(
  engine: Engine,
  where: Placed,
  { turn, agent, topic }: BeliefsQuery,
  as?: string,
): Promise<readonly Belief[]> {
  if (agent !== undefined) checkId('agent', agent);
  if (topic !== undefined) checkTopic(topic);
  const look = await fleetAtPlace(engine, await placed(where));
  return beliefsIn(engine, look, { turn, agent, topic }, as);
}

/** Returns the claims that stand in a fleet that was looked at. */
export async function beliefsIn(
  engine: Engine,
  look: FleetLook,
  { turn, agent, topic }: BeliefsQuery = {},
  as?: string,
): Promise<readonly Belief[]> {
  const query: BeliefQuery = given({ agent, topic, as });
  return activeAt(look.table, await momentOf(engine, look, turn), query);
}

/** Returns who is there at a place, with which scope and trust, since when, and doing which tasks. */
export async function fleetAt(
  engine: Engine,
  where: Placed,
  { turn }: { readonly turn?: number | undefined } = {},
): Promise<FleetState> {
  return fleetIn(engine, await fleetAtPlace(engine, await placed(where)), turn);
}

/** Returns who is there in a fleet that was looked at. */
export async function fleetIn(engine: Engine, look: FleetLook, turn?: number): Promise<FleetState> {
  const moment = await momentOf(engine, look, turn);
  const tasks = tasksAt(look.table.tasks, moment);
  const held = Map.groupBy(
    tasks.filter(({ status }) => status === 'claimed'),
    ({ agent }) => agent,
  );
  const tasksOf = (agent: string): string[] => (held.get(agent) ?? []).map(({ task }) => task);
  const agents = agentsAt(look.table, moment).map((who) => ({ ...who, tasks: tasksOf(who.agent) }));
  return { agents, tasks };
}

/** Returns who an agent is at a place; undefined if it is not there. */
export async function registeredAt(engine: Engine, place: Place, agent: string): Promise<Registration | undefined> {
  const look = await fleetAtPlace(engine, place);
  return registrationAt(look.table, agent, await momentOf(engine, look, undefined));
}

/** Returns who an agent is now on a branch; undefined if it is not there. */
export async function registeredNow(engine: Engine, on: OnBranch, agent: string): Promise<Registration | undefined> {
  const look = await fleetAtHead(engine, on);
  return registrationAt(look.table, agent, await momentNow(engine, look));
}
