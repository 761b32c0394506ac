import { RepriseError } from '../../core/error.ts';
import { activeAt, agentsAt, type BeliefQuery } from '../../core/fleet/active.ts';
import { type Belief, checkTopic } from '../../core/fleet/belief.ts';
import { type FleetTask, tasksAt } from '../../core/fleet/fleet-task.ts';
import type { Registration } from '../../core/fleet/registration.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkTurn, type PointInput } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import { pointOn } from '../state/point.ts';
import { type FleetLook, fleetAtPlace, momentOf, type OnBranch, placeOfTimes, type TwoTimes } from './fleet-look.ts';

/** Which beliefs to return, and of which moment. */
export interface BeliefsAtOptions extends TwoTimes {
  /** Only claims of this agent. */
  readonly agent?: string;
  /** Only claims on this topic. */
  readonly topic?: string;
}

const timesNames = { turn: 'number', seq: 'number', point: 'point' } as const;
/** The names of the options of a look at beliefs. */
export const beliefsAtKeys: KnownKeys = optionKeys<BeliefsAtOptions>(
  'look at beliefs',
  { ...timesNames, agent: 'text', topic: true },
  'a look at beliefs',
);
const fleetAtKeys: KnownKeys = optionKeys<TwoTimes>('look at a fleet', timesNames, 'a look at a fleet');

/** An agent that is there, and the tasks it has taken and not ended. */
export interface FleetAgent extends Registration {
  readonly tasks: readonly string[];
}

/** Who is there at a moment, and which tasks there are. */
export interface FleetState {
  readonly agents: readonly FleetAgent[];
  readonly tasks: readonly FleetTask[];
}

function checkTimes({ turn, seq, point }: TwoTimes): void {
  if (turn !== undefined) checkTurn(turn);
  if (seq === undefined || point === undefined) return;
  throw new RepriseError('option.invalid', 'Cannot look at a fleet with both "seq" and "point"', {
    hint: 'Pass one of them: each names a point.',
    details: { option: 'point' },
  });
}

/** Looks at a fleet at a moment of the two times. */
async function lookAtTimes(engine: Engine, on: OnBranch, times: TwoTimes): Promise<FleetLook> {
  checkTimes(times);
  return fleetAtPlace(engine, await placeOfTimes(engine, on, times));
}

/** Returns the claims that stand at a moment; through an agent's eyes if `as` names one. */
export async function beliefsAt(
  engine: Engine,
  on: OnBranch,
  options: BeliefsAtOptions,
  as?: string,
): Promise<readonly Belief[]> {
  checkKeys(options, beliefsAtKeys);
  const { turn, agent, topic } = options;
  if (agent !== undefined) checkId('agent', agent);
  if (topic !== undefined) checkTopic(topic);
  const look = await lookAtTimes(engine, on, options);
  const query: BeliefQuery = given({ agent, topic });
  return activeAt(look.table, await momentOf(engine, look, turn), as === undefined ? query : { ...query, as });
}

/** Returns who is there at a moment, with which scope and trust, since when, and doing which tasks. */
export async function fleetAt(engine: Engine, on: OnBranch, where: PointInput | TwoTimes): Promise<FleetState> {
  const times = timesOf(where);
  checkKeys(times, fleetAtKeys);
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

/** Returns the moment that a point or times mean on a branch. */
export function timesOn(branch: string, where: PointInput | TwoTimes): TwoTimes {
  const times = timesOf(where);
  checkKeys(times, fleetAtKeys);
  return { ...given({ turn: times.turn }), point: pointOfTimes(branch, times) };
}

/** Returns the question about beliefs that options mean on a branch. */
export function beliefsOn(branch: string, options: BeliefsAtOptions): BeliefsAtOptions {
  checkKeys(options, beliefsAtKeys);
  const { turn, agent, topic } = options;
  return { ...given({ turn, agent, topic }), point: pointOfTimes(branch, options) };
}

function pointOfTimes(branch: string, times: TwoTimes): PointInput {
  checkTimes(times);
  const { seq, point = {} } = times;
  return seq === undefined ? pointOn(branch, point) : { branch, seq };
}

/** A point is a moment too: its seq. `{ turn }` selects by turn, as everywhere in a fleet. */
function timesOf(where: PointInput | TwoTimes): TwoTimes {
  if (typeof where === 'string') return { point: where };
  if (typeof where !== 'object' || where === null) return { point: where };
  if ('run' in where || 'time' in where || 'branch' in where) return { point: where as PointInput };
  return where as TwoTimes;
}
