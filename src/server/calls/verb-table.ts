import { RepriseError } from '../../core/error.ts';
import { nearest } from '../../core/nearest.ts';
import type { VerbEntry } from './verb-entry.ts';
import { agentVerbs } from './verbs/agent-verbs.ts';
import { branchVerbs } from './verbs/branch-verbs.ts';
import { codingVerbs } from './verbs/coding-verbs.ts';
import { beliefVerbs, fleetVerbs } from './verbs/fleet-verbs.ts';
import { lookVerbs } from './verbs/look-verbs.ts';
import { repriseVerbs } from './verbs/reprise-verbs.ts';
import { sessionVerbs } from './verbs/session-verbs.ts';
import { stateVerbs } from './verbs/state-verbs.ts';

/** The name of a verb of the wire: its handle, and its name there. */
export type VerbName =
  | keyof typeof repriseVerbs
  | keyof typeof lookVerbs
  | keyof typeof branchVerbs
  | keyof typeof sessionVerbs
  | keyof typeof stateVerbs
  | keyof typeof beliefVerbs
  | keyof typeof fleetVerbs
  | keyof typeof codingVerbs
  | keyof typeof agentVerbs;

/** Every verb that goes through the door: where it acts, what it takes, its rights, and how it runs. */
export const verbTable: Readonly<Record<VerbName, VerbEntry>> = {
  ...repriseVerbs,
  ...lookVerbs,
  ...branchVerbs,
  ...sessionVerbs,
  ...stateVerbs,
  ...beliefVerbs,
  ...fleetVerbs,
  ...codingVerbs,
  ...agentVerbs,
};

/** Returns true if a string is the name of a verb. */
export function isVerb(name: string): name is VerbName {
  return Object.hasOwn(verbTable, name);
}

/** Returns a verb by its name. */
export function verbNamed(name: string): VerbEntry {
  if (isVerb(name)) return verbTable[name];
  const near = nearest(name, Object.keys(verbTable));
  throw new RepriseError('option.invalid', `Cannot run ${JSON.stringify(name.slice(0, 80))}: there is no such verb`, {
    hint: near === undefined ? 'See docs/reference/wire.md for the verbs.' : `Did you mean "${near}"?`,
    details: { path: 'verb' },
  });
}
