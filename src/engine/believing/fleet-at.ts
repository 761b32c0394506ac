import { activeAt, agentsAt, type BeliefQuery, registrationAt } from '../../core/fleet/active.ts';
import { type Belief, checkTopic } from '../../core/fleet/belief.ts';
import { type FleetTask, tasksAt } from '../../core/fleet/fleet-task.ts';
import type { Registration } from '../../core/fleet/registration.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import type { PointInput } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import { findPlace, type Place } from '../history/place.ts';
import { type FleetLook, fleetAtHead, fleetAtPlace, momentNow, momentOf, type OnBranch } from './fleet-look.ts';
import { type BeliefsAtOptions, checkBeliefsAt, checkFleetAt, pointOfTimes, type TwoTimes } from './fleet-times.ts';

/** An agent that is there, and the tasks it has taken and not ended. */
export interface FleetAgent extends Registration {
  readonly tasks: readonly string[];
}

/** Who is there at a moment, and which tasks there are. */
export interface FleetState {
  readonly agents: readonly FleetAgent[];
  readonly tasks: readonly FleetTask[];
}

/** Looks at a fleet at a moment of the two times. */
async function lookAtTimes(engine: Engine, { session, branch }: OnBranch, times: TwoTimes): Promise<FleetLook> {
  return fleetAtPlace(engine, await findPlace(engine, session, pointOfTimes(branch, times)));
}

/** Returns the claims that stand at a moment; through an agent's eyes if `as` names one. */
export async function beliefsAt(
  engine: Engine,
  on: OnBranch,
  options: BeliefsAtOptions,
  as?: string,
): Promise<readonly Belief[]> {
  checkBeliefsAt(options);
  const { turn, agent, topic } = options;
  if (agent !== undefined) checkId('agent', agent);
  if (topic !== undefined) checkTopic(topic);
  const look = await lookAtTimes(engine, on, options);
  const query: BeliefQuery = given({ agent, topic, as });
  return activeAt(look.table, await momentOf(engine, look, turn), query);
}

/** Returns who is there at a moment, with which scope and trust, since when, and doing which tasks. */
export async function fleetAt(engine: Engine, on: OnBranch, where: PointInput | TwoTimes): Promise<FleetState> {
  const times = checkFleetAt(where);
  const look = await lookAtTimes(engine, on, times);
  const moment = await momentOf(engine, look, times.turn);
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
