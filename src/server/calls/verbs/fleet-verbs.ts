import { given, type JsonObject } from '../../../core/json.ts';
import type { BeliefsHandle } from '../../../engine/believing/beliefs-handle.ts';
import type { CommitOptions } from '../../../engine/believing/commit-belief.ts';
import type { BeliefsAtOptions, TwoTimes } from '../../../engine/believing/fleet-times.ts';
import type { RevertBeliefOptions } from '../../../engine/believing/revert-belief.ts';
import type { StrategyOptions } from '../../../engine/believing/strategy.ts';
import type { FleetHandle } from '../../../engine/fleet/fleet-handle.ts';
import type { ClaimTask, EndTask, FailedVerification, StartTask } from '../../../engine/fleet/fleet-tasks.ts';
import type { ChangeOptions, EndOptions, SpawnOptions } from '../../../engine/fleet/register-agent.ts';
import { type Arguments, apart, type LookPlace, takes, textIn, type VerbEntry, writing } from '../verb-entry.ts';
import { marking } from './branch-verbs.ts';

const fleetOf = ({ session, branch }: LookPlace): FleetHandle => session.fleet.on(branch);
const beliefsOf = ({ session, branch }: LookPlace): BeliefsHandle => session.beliefs.on(branch);

/** The argument that leaves out everything of later turns, wherever it is stored. */
const storied = { story: 'number?' } as const;

/** Returns the two times that a look at a fleet asks about. */
export function timesIn({ point }: LookPlace, { story }: JsonObject): TwoTimes {
  return { point, ...given({ turn: story as number | undefined }) };
}

/** The arguments of a list of beliefs. */
export const believing: Arguments = {
  ...takes<Omit<BeliefsAtOptions, keyof TwoTimes>>({ agent: 'text?', topic: 'text?' }),
  ...storied,
};

/** The arguments of a claim. */
export const claiming: Arguments = takes<Omit<CommitOptions, 'agent'>>({
  claim: 'text',
  topic: 'text?',
  kind: 'text?',
  value: 'any?',
  trust: 'number?',
  turn: 'number?',
  supersedes: 'list?',
  beside: 'flag?',
  cause: 'text?',
  run: 'text?',
  id: 'text?',
});

const agentFields = {
  role: 'text?',
  scope: 'any?',
  trust: 'number?',
  trustOn: 'object?',
  model: 'text?',
} as const;

type BeliefVerb = 'list' | 'strategy' | 'commit' | 'settle' | 'revert' | 'setStrategy';

/** The verbs of beliefs. */
export const beliefVerbs: Readonly<Record<`beliefs.${BeliefVerb}`, VerbEntry>> = {
  'beliefs.list': {
    about: 'Returns the claims that stood at a point; with `agent`, those of that agent.',
    rights: ['read'],
    at: 'look',
    takes: believing,
    one: (place, input) => place.session.beliefsAt({ ...apart(input, 'story'), ...timesIn(place, input) }),
  },
  'beliefs.strategy': {
    about: 'Returns how contradictions are settled.',
    rights: ['read'],
    at: 'branch',
    one: (place) => beliefsOf(place).strategy(),
  },
  'beliefs.commit': {
    about: 'Commits a claim.',
    rights: writing,
    at: 'branch',
    takes: { ...claiming, agent: 'text?' },
    one: (place, input) => beliefsOf(place).commit(input as never),
  },
  'beliefs.settle': {
    about: 'Settles the contradictions that wait.',
    rights: writing,
    at: 'branch',
    one: (place) => beliefsOf(place).settle(),
  },
  'beliefs.revert': {
    about: 'Takes a claim back, with everything that came of it.',
    rights: writing,
    at: 'branch',
    takes: { belief: 'text', ...takes<RevertBeliefOptions>({ ...marking, restore: 'flag?' }) },
    one: (place, input) => beliefsOf(place).revert(textIn(input, 'belief'), apart(input, 'belief')),
  },
  'beliefs.setStrategy': {
    about: 'Sets how contradictions are settled from here on.',
    rights: writing,
    at: 'branch',
    takes: { strategy: 'text', ...takes<StrategyOptions>({ reason: 'text?', turn: 'number?' }) },
    one: (place, input) => beliefsOf(place).setStrategy(textIn(input, 'strategy'), apart(input, 'strategy')),
  },
};

type FleetVerb =
  | 'agents'
  | 'tasks'
  | 'spawn'
  | 'change'
  | 'end'
  | 'mutate'
  | 'task.start'
  | 'task.claim'
  | 'task.end'
  | 'task.verificationFailed';

/** The verbs of a fleet. */
export const fleetVerbs: Readonly<Record<`fleet.${FleetVerb}`, VerbEntry>> = {
  'fleet.agents': {
    about: 'Returns the agents at a point.',
    rights: ['read'],
    at: 'look',
    takes: storied,
    one: async (place, input) => (await place.session.fleetAt(timesIn(place, input))).agents,
  },
  'fleet.tasks': {
    about: 'Returns the tasks at a point.',
    rights: ['read'],
    at: 'look',
    takes: storied,
    one: async (place, input) => (await place.session.fleetAt(timesIn(place, input))).tasks,
  },
  'fleet.spawn': {
    about: 'Makes an agent; without `scope` it may see every topic.',
    rights: writing,
    at: 'branch',
    takes: { agent: 'text', ...takes<SpawnOptions>({ ...agentFields, fromTurn: 'number?' }) },
    one: (place, input) => fleetOf(place).spawn(textIn(input, 'agent'), apart(input, 'agent')),
  },
  'fleet.change': {
    about: 'Changes the role, the scope, the trust or the model of an agent.',
    rights: writing,
    at: 'branch',
    takes: { agent: 'text', ...takes<ChangeOptions>({ ...agentFields, turn: 'number?' }) },
    one: (place, input) => fleetOf(place).change(textIn(input, 'agent'), apart(input, 'agent')),
  },
  'fleet.end': {
    about: 'Ends an agent.',
    rights: writing,
    at: 'branch',
    takes: {
      agent: 'text',
      ...takes<EndOptions>({ outcome: 'text?', reason: 'text?', turn: 'number?' }),
    },
    one: (place, input) => fleetOf(place).end(textIn(input, 'agent'), apart(input, 'agent')),
  },
  'fleet.mutate': {
    about: 'Changes one fact of the fleet: a claim, a key of the state, the strategy or an agent.',
    rights: writing,
    at: 'branch',
    takes: { mutation: 'object' },
    one: (place, input) => fleetOf(place).mutate(input['mutation'] as never),
  },
  'fleet.task.start': {
    about: 'Starts a task.',
    rights: writing,
    at: 'branch',
    takes: takes<StartTask>({
      task: 'text',
      title: 'text?',
      prompt: 'text?',
      role: 'text?',
      agent: 'text?',
      turn: 'number?',
    }),
    one: (place, input) => fleetOf(place).tasks.start(input as never),
  },
  'fleet.task.claim': {
    about: 'Gives a task to an agent.',
    rights: writing,
    at: 'branch',
    takes: takes<ClaimTask>({ task: 'text', agent: 'text', model: 'text?', turn: 'number?' }),
    one: (place, input) => fleetOf(place).tasks.claim(input as never),
  },
  'fleet.task.end': {
    about: 'Ends a task.',
    rights: writing,
    at: 'branch',
    takes: takes<EndTask>({
      task: 'text',
      outcome: 'text?',
      result: 'any?',
      error: 'object?',
      cost: 'number?',
      agent: 'text?',
      turn: 'number?',
    }),
    one: (place, input) => fleetOf(place).tasks.end(input as never),
  },
  'fleet.task.verificationFailed': {
    about: 'Records that the result of a task did not pass.',
    rights: writing,
    at: 'branch',
    takes: takes<FailedVerification>({ task: 'text', signals: 'list', agent: 'text?', turn: 'number?' }),
    one: (place, input) => fleetOf(place).tasks.verificationFailed(input as never),
  },
};
