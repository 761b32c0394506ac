import type { CommandEntry } from './command.ts';

/** Every command, in the order `reprise --help` shows them. A command is loaded only when it is run. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'list',
    group: 'Look',
    summary: 'sessions and branches, newest first',
    load: async () => (await import('./commands/list.ts')).list,
  },
  {
    name: 'replay',
    group: 'Look',
    summary: 'the events of a history again, in order',
    load: async () => (await import('./commands/replay.ts')).replay,
  },
  {
    name: 'show',
    group: 'Look',
    summary: 'what the agent knew at a point',
    load: async () => (await import('./commands/show.ts')).show,
  },
  {
    name: 'state',
    group: 'Look',
    summary: "a projection's value at a point",
    load: async () => (await import('./commands/state.ts')).state,
  },
  {
    name: 'projections',
    group: 'Look',
    summary: 'the projections there are',
    load: async () => (await import('./commands/projections.ts')).projections,
  },
  {
    name: 'get',
    group: 'State',
    summary: 'what a key holds, now, at a point or as a version',
    load: async () => (await import('./commands/get.ts')).get,
  },
  {
    name: 'set',
    group: 'State',
    summary: 'write a key',
    load: async () => (await import('./commands/set.ts')).set,
  },
  {
    name: 'delete',
    group: 'State',
    summary: 'delete a key',
    load: async () => (await import('./commands/delete.ts')).deleteKey,
  },
  {
    name: 'keys',
    group: 'State',
    summary: 'the keys that hold a value',
    load: async () => (await import('./commands/keys.ts')).keys,
  },
  {
    name: 'scan',
    group: 'State',
    summary: 'keys with their values',
    load: async () => (await import('./commands/scan.ts')).scan,
  },
  {
    name: 'history',
    group: 'State',
    summary: 'every version of a key',
    load: async () => (await import('./commands/history.ts')).history,
  },
  {
    name: 'diff',
    group: 'Compare and prove',
    summary: 'what changed between two places',
    load: async () => (await import('./commands/diff.ts')).diff,
  },
  {
    name: 'counterfactual',
    group: 'Compare and prove',
    summary: 'what would be if some events had not happened',
    load: async () => (await import('./commands/counterfactual.ts')).counterfactual,
  },
  {
    name: 'fingerprint',
    group: 'Compare and prove',
    summary: 'how a history behaved, as one value',
    load: async () => (await import('./commands/fingerprint.ts')).fingerprint,
  },
  {
    name: 'verify',
    group: 'Compare and prove',
    summary: 'whether a history is what was recorded',
    load: async () => (await import('./commands/verify.ts')).verify,
  },
  {
    name: 'fork',
    group: 'Change',
    summary: 'a new branch at a point, with anything changed',
    load: async () => (await import('./commands/fork.ts')).fork,
  },
  {
    name: 'edit',
    group: 'Change',
    summary: 'the same edits on a live branch',
    load: async () => (await import('./commands/edit.ts')).edit,
  },
  {
    name: 'rewind',
    group: 'Change',
    summary: 'make the view of a branch an earlier one',
    load: async () => (await import('./commands/rewind.ts')).rewind,
  },
  {
    name: 'revert',
    group: 'Change',
    summary: 'take one event out of the view',
    load: async () => (await import('./commands/revert.ts')).revert,
  },
  {
    name: 'redo',
    group: 'Change',
    summary: 'undo the last rewind, revert or edit',
    load: async () => (await import('./commands/redo.ts')).redo,
  },
  {
    name: 'erase',
    group: 'Change',
    summary: 'forget a payload for good',
    load: async () => (await import('./commands/erase.ts')).erase,
  },
  {
    name: 'delete-session',
    group: 'Change',
    summary: 'forget a whole session for good',
    load: async () => (await import('./commands/delete-session.ts')).deleteSession,
  },
  {
    name: 'doctor',
    group: 'Keep house',
    summary: 'what the store is, whether it is sound, what to do',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'completion',
    group: 'Keep house',
    summary: 'completion for bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
];
