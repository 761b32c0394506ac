import { pointText } from '../../../core/ref.ts';
import type { AppendOptions } from '../../../core/session/session-log.ts';
import type { MarkOptions } from '../../../engine/changing/mark.ts';
import type { RevertOptions } from '../../../engine/changing/revert.ts';
import type { RewindOptions } from '../../../engine/changing/rewind.ts';
import type { SpawnOptions } from '../../../engine/fleet/register-agent.ts';
import { type ArgumentKind, apart, takes, textIn, type VerbEntry, writing } from '../verb-entry.ts';

/** The options of every marker. */
export const marking: Readonly<Record<keyof MarkOptions, ArgumentKind>> = {
  reason: 'text?',
  agent: 'text?',
  turn: 'number?',
  dryRun: 'flag?',
};

/** The arguments that say who an agent is. */
export const agentFields = {
  role: 'text?',
  scope: 'any?',
  trust: 'number?',
  trustOn: 'object?',
  model: 'text?',
} as const;

type BranchVerb = 'append' | 'edit' | 'rewind' | 'revert' | 'redo' | 'spawn' | 'mutate' | 'setMetadata';

/** The verbs of a branch. */
export const branchVerbs: Readonly<Record<`branch.${BranchVerb}`, VerbEntry>> = {
  'branch.append': {
    about: 'Appends events as one atomic batch, and returns them as they are stored.',
    rights: writing,
    at: 'branch',
    takes: {
      events: 'list',
      ...takes<AppendOptions>({
        head: 'number?',
        unchanged: 'object?',
        epoch: 'number?',
        continues: 'list?',
      }),
    },
    one: ({ on }, input) => on.append(input['events'] as never, apart(input, 'events')),
  },
  'branch.edit': {
    about: 'Appends edits to a branch.',
    rights: writing,
    at: 'branch',
    takes: { edits: 'list', ...marking },
    one: ({ on }, input) => on.edit(input['edits'] as never, apart(input, 'edits')),
  },
  'branch.rewind': {
    about: 'Appends a marker after which the view of the branch is the one at a point.',
    rights: writing,
    at: 'point',
    takes: takes<RewindOptions>({ ...marking, only: 'text?' }),
    one: ({ on, ref }, input) => on.rewind(pointText(ref), input),
  },
  'branch.revert': {
    about: 'Appends a marker that takes the event at a point out of the view.',
    rights: writing,
    at: 'point',
    takes: takes<RevertOptions>({ ...marking, cascade: 'flag?' }),
    one: ({ on, ref }, input) => on.revert(pointText(ref), input),
  },
  'branch.redo': {
    about: 'Undoes the last marker.',
    rights: writing,
    at: 'branch',
    takes: marking,
    one: ({ on }, input) => on.redo(input),
  },
  'branch.spawn': {
    about: 'Makes an agent; without `scope` it may see every topic.',
    rights: writing,
    at: 'branch',
    takes: { agent: 'text', ...takes<SpawnOptions>({ ...agentFields, fromTurn: 'number?' }) },
    one: ({ on }, input) => on.spawn(textIn(input, 'agent'), apart(input, 'agent')),
  },
  'branch.mutate': {
    about: 'Changes one fact of the fleet: a claim, a key of the state, the strategy or an agent.',
    rights: writing,
    at: 'branch',
    takes: { mutation: 'object' },
    one: ({ on }, input) => on.mutate(input['mutation'] as never),
  },
  'branch.setMetadata': {
    about: 'Changes metadata; a key with null is removed.',
    rights: writing,
    at: 'branch',
    takes: { set: 'object' },
    one: ({ on }, input) => on.setMetadata(input['set'] as never),
  },
};
