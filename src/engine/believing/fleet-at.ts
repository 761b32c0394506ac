import { activeAt, agentsAt, type BeliefQuery, registrationAt } from '../../core/fleet/active.ts';
import { type Belief, checkTopic } from '../../core/fleet/belief.ts';
import { type FleetTask, tasksAt } from '../../core/fleet/fleet-task.ts';
import type { Registration } from '../../core/fleet/registration.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import type { Place } from '../history/place.ts';
import type { Told } from '../history/where.ts';
import { type FleetLook, fleetAtHead, fleetAtPlace, momentNow, momentOf } from './fleet-look.ts';

/** Which beliefs to return. */
export interface BeliefsQuery {
  /** Only claims of this agent. */
  readonly agent?: string;
  /** Only claims on this topic. */
  readonly topic?: string;
}

const beliefsKeys: KnownKeys = optionKeys<BeliefsQuery>(
  'list beliefs',
  { agent: 'text', topic: true },
  'a list of beliefs',
);

/** Refuses unknown options, and ids and topics that cannot be. */
export function checkBeliefs(query: BeliefsQuery): void {
  checkKeys(query, beliefsKeys);
  const { agent, topic } = query;
  if (agent !== undefined) checkId('agent', agent);
  if (topic !== undefined) checkTopic(topic);
}

/** An agent that is there, and the tasks it has taken and not ended. */
export interface FleetAgent extends Registration {
  readonly tasks: readonly string[];
}

/** Who is there at a moment, and which tasks there are. */
export interface FleetState {
  readonly agents: readonly FleetAgent[];
  readonly tasks: readonly FleetTask[];
}

/** Returns the claims that stand at a moment; through an agent's eyes if `as` names one. */
export async function beliefsAt(
  engine: Engine,
  { place, story }: Told,
  { agent, topic }: BeliefsQuery,
  as?: string,
): Promise<readonly Belief[]> {
  return beliefsIn(engine, await fleetAtPlace(engine, place), { story, agent, topic }, as);
}

/** Returns the claims that stand in a fleet that was looked at. */
export async function beliefsIn(
  engine: Engine,
  look: FleetLook,
  {
    story,
    agent,
    topic,
  }: { readonly [Name in keyof BeliefsQuery]?: string | undefined } & {
    readonly story?: number | undefined;
  } = {},
  as?: string,
): Promise<readonly Belief[]> {
  const query: BeliefQuery = given({ agent, topic, as });
  return activeAt(look.table, await momentOf(engine, look, story), query);
}

/** Returns who is there at a moment, with which scope and trust, since when, and doing which tasks. */
export async function fleetAt(engine: Engine, { place, story }: Told): Promise<FleetState> {
  return fleetIn(engine, await fleetAtPlace(engine, place), story);
}

/** Returns who is there in a fleet that was looked at. */
export async function fleetIn(engine: Engine, look: FleetLook, story?: number): Promise<FleetState> {
  const moment = await momentOf(engine, look, story);
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
