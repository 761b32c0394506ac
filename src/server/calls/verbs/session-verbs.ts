import { pointText } from '../../../core/ref.ts';
import type { ForkedBranch } from '../../../engine/branch.ts';
import type { ArchiveOptions } from '../../../engine/changing/archive-branch.ts';
import type { DeleteBranchOptions } from '../../../engine/changing/delete-branch.ts';
import type { EraseOptions } from '../../../engine/erasing/erase.ts';
import { apart, takes, textIn, type VerbEntry, writing } from '../verb-entry.ts';
import { marking } from './branch-verbs.ts';

/** Returns a branch as the wire shows it. */
export function branchAnswer({ name, parent, head }: Pick<ForkedBranch, 'name' | 'parent' | 'head'>): object {
  return { name, parent, head };
}

type SessionVerb =
  | 'tree'
  | 'branches'
  | 'branch'
  | 'toJSON'
  | 'archiveBranch'
  | 'deleteBranch'
  | 'erase'
  | 'repair'
  | 'dropSnapshots'
  | 'delete';

/** The verbs of a session as a tree. */
export const sessionVerbs: Readonly<Record<`session.${SessionVerb}`, VerbEntry>> = {
  'session.tree': {
    about: 'Returns the branches of a session as a tree.',
    rights: ['read'],
    at: 'session',
    one: ({ session }) => session.tree(),
  },
  'session.branches': {
    about: 'Returns every branch: its head, where it was forked, and when it was written to.',
    rights: ['read'],
    at: 'session',
    one: ({ session }) => session.branches(),
  },
  'session.branch': {
    about: 'Returns a branch: its parent and its head.',
    rights: ['read'],
    at: 'session',
    takes: { branch: 'text' },
    one: async ({ session }, input) => {
      const name = textIn(input, 'branch');
      const { parent, head } = await session.branch(name).locate();
      return { name, parent, head };
    },
  },
  'session.toJSON': {
    about: 'Returns a session with all of its events.',
    rights: ['read'],
    at: 'session',
    one: ({ session }) => session.toJSON(),
  },
  'session.archiveBranch': {
    about: 'Hides a branch from listings, or shows it again.',
    rights: writing,
    at: 'session',
    takes: { branch: 'text', ...takes<ArchiveOptions>({ reason: 'text?', undo: 'flag?' }) },
    one: ({ session }, input) => session.archiveBranch(textIn(input, 'branch'), apart(input, 'branch')),
  },
  'session.deleteBranch': {
    about: 'Deletes a branch that nothing grows from; `confirm` repeats its name.',
    rights: ['admin'],
    at: 'session',
    takes: { branch: 'text', ...takes<DeleteBranchOptions>({ confirm: 'text', reason: 'text?' }) },
    one: ({ session }, input) => session.deleteBranch(textIn(input, 'branch'), apart(input, 'branch')),
  },
  'session.erase': {
    about: 'Forgets the payload of the event at a point; the chain still verifies.',
    rights: ['admin'],
    at: 'point',
    takes: takes<EraseOptions>({ ...marking, everywhere: 'flag?', onlyIdle: 'flag?' }),
    one: ({ session, ref }, input) => session.erase(pointText(ref), input),
  },
  'session.repair': {
    about: 'Makes everything that is derived from the history of a session anew.',
    rights: ['admin'],
    at: 'session',
    one: ({ session }) => session.repair(),
  },
  'session.dropSnapshots': {
    about: 'Drops the snapshots of a session; they are made again when they are needed.',
    rights: writing,
    at: 'session',
    one: ({ session }) => session.dropSnapshots(),
  },
  'session.delete': {
    about: 'Deletes a session for good; `confirm` repeats its id.',
    rights: ['admin'],
    at: 'session',
    takes: { confirm: 'text' },
    one: ({ session }, input) => session.delete({ confirm: textIn(input, 'confirm') }),
  },
};
