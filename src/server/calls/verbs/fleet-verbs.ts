import type { JsonObject } from '../../../core/json.ts';
import { inStory } from '../../../core/ref.ts';
import type { CommitOptions } from '../../../engine/believing/commit-belief.ts';
import type { BeliefsQuery } from '../../../engine/believing/fleet-at.ts';
import type { RevertBeliefOptions } from '../../../engine/believing/revert-belief.ts';
import type { StrategyOptions } from '../../../engine/believing/strategy.ts';
import type { ClaimTask, EndTask, FailedVerification, StartTask } from '../../../engine/fleet/fleet-tasks.ts';
import type { ChangeOptions, EndOptions } from '../../../engine/fleet/register-agent.ts';
import type { Look } from '../../../engine/look.ts';
import { type Arguments, apart, type LookPlace, takes, textIn, type VerbEntry, writing } from '../verb-entry.ts';
import { agentFields, marking } from './branch-verbs.ts';

/** The argument that leaves out everything of later turns, wherever it is stored. */
const storied = { story: 'number?' } as const;

/** Returns the look that a verb asks for: in story time if a turn is named. */
function lookIn({ session, ref, look }: LookPlace, { story }: JsonObject): Look {
  return typeof story === 'number' ? session.at(inStory(ref, story)) : look;
}

/** The arguments of a list of beliefs. */
export const believing: Arguments = {
  ...takes<BeliefsQuery>({ agent: 'text?', topic: 'text?' }),
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

type BeliefVerb = 'list' | 'strategy' | 'commit' | 'settle' | 'revert' | 'setStrategy';

/** The verbs of beliefs. */
export const beliefVerbs: Readonly<Record<`beliefs.${BeliefVerb}`, VerbEntry>> = {
  'beliefs.list': {
    about: 'Returns the claims that stood at a point: those of `agent`, or with `story` those of that turn or earlier.',
    rights: ['read'],
    at: 'look',
    takes: believing,
    one: (place, input) => lookIn(place, input).beliefs.list(apart(input, 'story')),
  },
  'beliefs.strategy': {
    about: 'Returns how contradictions are settled.',
    rights: ['read'],
    at: 'look',
    one: ({ look }) => look.beliefs.strategy(),
  },
  'beliefs.commit': {
    about: 'Commits a claim.',
    rights: writing,
    at: 'branch',
    takes: { ...claiming, agent: 'text?' },
    one: ({ on }, input) => on.beliefs.commit(input as never),
  },
  'beliefs.settle': {
    about: 'Settles the contradictions that wait.',
    rights: writing,
    at: 'branch',
    one: ({ on }) => on.beliefs.settle(),
  },
  'beliefs.revert': {
    about: 'Takes a claim back, with everything that came of it.',
    rights: writing,
    at: 'branch',
    takes: { belief: 'text', ...takes<RevertBeliefOptions>({ ...marking, restore: 'flag?' }) },
    one: ({ on }, input) => on.beliefs.revert(textIn(input, 'belief'), apart(input, 'belief')),
  },
  'beliefs.setStrategy': {
    about: 'Sets how contradictions are settled from here on.',
    rights: writing,
    at: 'branch',
    takes: { strategy: 'text', ...takes<StrategyOptions>({ reason: 'text?', turn: 'number?' }) },
    one: ({ on }, input) => on.beliefs.setStrategy(textIn(input, 'strategy'), apart(input, 'strategy')),
  },
};

type FleetVerb =
  | 'agents'
  | 'tasks'
  | 'change'
  | 'end'
  | 'task.start'
  | 'task.claim'
  | 'task.end'
  | 'task.verificationFailed';

/** The verbs of a fleet. */
export const fleetVerbs: Readonly<Record<`fleet.${FleetVerb}`, VerbEntry>> = {
  'fleet.agents': {
    about: 'Returns the agents at a point; with `story`, those of that turn or earlier.',
    rights: ['read'],
    at: 'look',
    takes: storied,
    one: (place, input) => lookIn(place, input).fleet.agents(),
  },
  'fleet.tasks': {
    about: 'Returns the tasks at a point; with `story`, those of that turn or earlier.',
    rights: ['read'],
    at: 'look',
    takes: storied,
    one: (place, input) => lookIn(place, input).fleet.tasks(),
  },
  'fleet.change': {
    about: 'Changes the role, the scope, the trust or the model of an agent.',
    rights: writing,
    at: 'branch',
    takes: { agent: 'text', ...takes<ChangeOptions>({ ...agentFields, turn: 'number?' }) },
    one: ({ on }, input) => on.fleet.change(textIn(input, 'agent'), apart(input, 'agent')),
  },
  'fleet.end': {
    about: 'Ends an agent.',
    rights: writing,
    at: 'branch',
    takes: {
      agent: 'text',
      ...takes<EndOptions>({ outcome: 'text?', reason: 'text?', turn: 'number?' }),
    },
    one: ({ on }, input) => on.fleet.end(textIn(input, 'agent'), apart(input, 'agent')),
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
    one: ({ on }, input) => on.fleet.task.start(input as never),
  },
  'fleet.task.claim': {
    about: 'Gives a task to an agent.',
    rights: writing,
    at: 'branch',
    takes: takes<ClaimTask>({ task: 'text', agent: 'text', model: 'text?', turn: 'number?' }),
    one: ({ on }, input) => on.fleet.task.claim(input as never),
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
    one: ({ on }, input) => on.fleet.task.end(input as never),
  },
  'fleet.task.verificationFailed': {
    about: 'Records that the result of a task did not pass.',
    rights: writing,
    at: 'branch',
    takes: takes<FailedVerification>({ task: 'text', signals: 'list', agent: 'text?', turn: 'number?' }),
    one: ({ on }, input) => on.fleet.task.verificationFailed(input as never),
  },
};
