import { RepriseError } from '../../core/error.ts';
import { checkAgent, defaultAgent } from '../../core/event/state-key.ts';
import { given, type JsonInputValue } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { type CommitOptions, type CommittedBelief, commitBelief } from '../believing/commit-belief.ts';
import { fleetAtHead } from '../believing/fleet-look.ts';
import type { Judge } from '../believing/judge.ts';
import { setStrategy } from '../believing/strategy.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { Where } from '../history/where.ts';
import { State } from '../state/state.ts';
import { StoredState } from '../state/stored-state.ts';
import type { Transaction } from '../state/transaction.ts';
import { type AgentFields, changeAgent, turnGiven } from './register-agent.ts';

/** A key of state to write; without a value it is deleted. */
export interface StateMutation {
  readonly agent?: string;
  readonly key: string;
  readonly value?: JsonInputValue;
}

/** A change of what was: a claim, a value of state, the rule that settles contradictions, or who an agent is. */
export type Mutation =
  | Omit<CommitOptions, 'supersedes' | 'run'>
  | { readonly state: StateMutation; readonly turn?: number; readonly reason?: string }
  | { readonly strategy: string; readonly turn?: number; readonly reason?: string }
  | ({ readonly agent: string; readonly turn?: number } & AgentFields);

/** The event that a mutation wrote. */
export interface Mutated {
  /** The seq of the event. */
  readonly seq: number;
  readonly turn: number;
  /** With a claim: the belief, and what it took the place of. */
  readonly committed?: CommittedBelief;
}

const stateKeys: KnownKeys = optionKeys<StateMutation>(
  'mutate state',
  { agent: 'text', key: 'text', value: true },
  'a mutation of state',
);
const wholeKeys: KnownKeys = optionKeys<{ state: true; strategy: true; turn: true; reason: true }>(
  'mutate a branch',
  { state: 'object', strategy: 'text', turn: 'number', reason: 'text' },
  'a mutation',
);

/** Changes what was on a branch, from the turn after its fork turn on. */
export async function mutate(engine: Engine, on: OnBranch, mutation: Mutation, judge: Judge): Promise<Mutated> {
  if (typeof mutation !== 'object' || mutation === null || Array.isArray(mutation)) refuse();
  if ('claim' in mutation) {
    const committed = await commitBelief(engine, on, mutation, { judge, mutates: true });
    return { seq: committed.belief.seq, turn: committed.belief.turn, committed };
  }
  if ('state' in mutation) {
    checkKeys(mutation, wholeKeys);
    return mutateState(engine, on, mutation.state, mutation.turn);
  }
  if ('strategy' in mutation) {
    checkKeys(mutation, wholeKeys);
    const { strategy, turn, reason } = mutation;
    const options = given({ turn, reason });
    const { seq, turn: at } = await setStrategy(engine, on, strategy, { options, judge });
    return { seq, turn: at };
  }
  if ('agent' in mutation) {
    const { agent, ...fields } = mutation;
    const { seq, turn } = await changeAgent(engine, on, agent, fields);
    return { seq, turn };
  }
  return refuse();
}

async function mutateState(
  engine: Engine,
  on: OnBranch,
  mutation: StateMutation,
  given: number | undefined,
): Promise<Mutated> {
  checkKeys(mutation, stateKeys);
  const { agent = defaultAgent, key, value } = mutation;
  const where = Where.onHead(engine, on.session, on.branch);
  const state = new State(new StoredState({ where, on, agent: checkAgent(agent) }));
  const turn = await turnGiven(engine, await fleetAtHead(engine, on), given);
  const write = (tx: Transaction): void => (value === undefined ? tx.delete(key) : tx.write(key, value));
  const { seq } = await state.transaction(write, { turn });
  return { seq, turn };
}

function refuse(): never {
  throw new RepriseError('option.invalid', 'Cannot mutate a branch: the mutation changes nothing that is known', {
    hint: 'Pass { claim, topic, … }, { state: { key, value } }, { strategy }, or { agent, scope | trust | role }.',
  });
}
