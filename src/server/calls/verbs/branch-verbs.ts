import type { AppendOptions } from '../../../core/session/session-log.ts';
import type { MarkOptions } from '../../../engine/changing/mark.ts';
import type { RevertOptions } from '../../../engine/changing/revert.ts';
import type { RewindOptions } from '../../../engine/changing/rewind.ts';
import { type ArgumentKind, apart, takes, type VerbEntry, writing } from '../verb-entry.ts';

/** The options of every marker. */
export const marking: Readonly<Record<keyof MarkOptions, ArgumentKind>> = {
  reason: 'text?',
  agent: 'text?',
  turn: 'number?',
  dryRun: 'flag?',
};

type BranchVerb = 'append' | 'edit' | 'rewind' | 'revert' | 'redo' | 'setMetadata';

/** The verbs of a branch. */
export const branchVerbs: Readonly<Record<`branch.${BranchVerb}`, VerbEntry>> = {
  'branch.append': {
    about: 'Appends events as one atomic batch, and returns them as they are stored.',
    rights: writing,
    at: 'branch',
    takes: {
      events: 'list',
      ...takes<Omit<AppendOptions, 'branch'>>({
        head: 'number?',
        unchanged: 'object?',
        epoch: 'number?',
        continues: 'list?',
      }),
    },
    one: ({ session, branch }, input) =>
      session.append(input['events'] as never, { ...apart(input, 'events'), branch }),
  },
  'branch.edit': {
    about: 'Appends edits to a branch.',
    rights: writing,
    at: 'branch',
    takes: { edits: 'list', ...marking },
    one: ({ session, point }, input) => session.edit(point, input['edits'] as never, apart(input, 'edits')),
  },
  'branch.rewind': {
    about: 'Appends a marker after which the view of the branch is the one at a point.',
    rights: writing,
    at: 'point',
    takes: takes<RewindOptions>({ ...marking, only: 'text?' }),
    one: ({ session, point }, input) => session.rewind(point, input),
  },
  'branch.revert': {
    about: 'Appends a marker that takes the event at a point out of the view.',
    rights: writing,
    at: 'point',
    takes: takes<RevertOptions>({ ...marking, cascade: 'flag?' }),
    one: ({ session, point }, input) => session.revert(point, input),
  },
  'branch.redo': {
    about: 'Undoes the last marker.',
    rights: writing,
    at: 'branch',
    takes: marking,
    one: ({ session, point }, input) => session.redo(point, input),
  },
  'branch.setMetadata': {
    about: 'Changes metadata; a key with null is removed.',
    rights: writing,
    at: 'branch',
    takes: { set: 'object' },
    one: ({ session, branch }, input) => session.setMetadata(input['set'] as never, { branch }),
  },
};
