import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkTurn, type PointInput } from '../../core/ref.ts';
import { pointOn } from '../state/point.ts';

/** Where in the two times to look. Without a turn, it is the highest one that there is. */
export interface TwoTimes {
  /** Everything of later turns is left out, wherever it stands. */
  readonly turn?: number;
  /** The last seq of the branch to look at; its head if left out. */
  readonly seq?: number;
  /** A point instead of a seq: `main@12`, or a branch. */
  readonly point?: PointInput;
}

/** Which beliefs to return, and of which moment. */
export interface BeliefsAtOptions extends TwoTimes {
  /** Only claims of this agent. */
  readonly agent?: string;
  /** Only claims on this topic. */
  readonly topic?: string;
}

const timesNames = { turn: 'number', seq: 'number', point: 'point' } as const;
const beliefsAtKeys: KnownKeys = optionKeys<BeliefsAtOptions>(
  'look at beliefs',
  { ...timesNames, agent: 'text', topic: true },
  'a look at beliefs',
);
const fleetAtKeys: KnownKeys = optionKeys<TwoTimes>('look at a fleet', timesNames, 'a look at a fleet');

/** Refuses unknown options of a look at beliefs, and times that are not whole numbers. */
export function checkBeliefsAt(options: BeliefsAtOptions): void {
  checkKeys(options, beliefsAtKeys);
  checkTimes(options);
}

/** Returns the moment that a point or times mean; refuses what is neither. */
export function checkFleetAt(where: PointInput | TwoTimes): TwoTimes {
  const times = timesOf(where);
  checkKeys(times, fleetAtKeys);
  checkTimes(times);
  return times;
}

function checkTimes({ turn, seq, point }: TwoTimes): void {
  if (turn !== undefined) checkTurn(turn);
  if (seq === undefined || point === undefined) return;
  throw new RepriseError('option.invalid', 'Cannot look at a fleet with both "seq" and "point"', {
    hint: 'Pass one of them: each names a point.',
    details: { option: 'point' },
  });
}

/** Returns the moment that a point or times mean on a branch. */
export function timesOn(branch: string, where: PointInput | TwoTimes): TwoTimes {
  const times = checkFleetAt(where);
  return { ...given({ turn: times.turn }), point: pointOfTimes(branch, times) };
}

/** Returns the question about beliefs that options mean on a branch. */
export function beliefsOn(branch: string, options: BeliefsAtOptions): BeliefsAtOptions {
  checkBeliefsAt(options);
  const { turn, agent, topic } = options;
  return { ...given({ turn, agent, topic }), point: pointOfTimes(branch, options) };
}

/** Returns the point of two times on a branch. */
export function pointOfTimes(branch: string, { seq, point = {} }: TwoTimes): PointInput {
  return seq === undefined ? pointOn(branch, point) : { branch, seq };
}

/** A point is a moment too: its seq. `{ turn }` selects by turn, as everywhere in a fleet. */
function timesOf(where: PointInput | TwoTimes): TwoTimes {
  if (typeof where === 'string') return { point: where };
  if (typeof where !== 'object' || where === null) return { point: where };
  if ('run' in where || 'time' in where || 'branch' in where) return { point: where as PointInput };
  return where as TwoTimes;
}
