import { given, type JsonObject } from '../../../core/json.ts';
import type { State, StateReader } from '../../../engine/state/state.ts';
import type { StateListOptions } from '../../../engine/state/state-options.ts';
import type { StateReplayOptions } from '../../../engine/state/state-replay.ts';
import type { TransactionOptions } from '../../../engine/state/transaction-work.ts';
import { actingAgent, checkUnbound } from '../../guarding/grant.ts';
import { commitOnce } from '../state-commits.ts';
import { apart, type LookPlace, listIn, pagesOf, takes, textIn, type VerbEntry, writing } from '../verb-entry.ts';

/** The agent whose state it is: `default` if left out, that of the token if it is bound to one. */
const ofAgent = { agent: 'text?' } as const;
const listing = takes<StateListOptions>({ limit: 'number?' });

/** Returns the state of the agent that a call acts as. */
function stateOf({ look, grant }: LookPlace, input: JsonObject): StateReader {
  const agent = actingAgent(grant, textIn(input, 'agent'));
  return agent === '' ? look.state : look.state.as(agent);
}

/** Returns the state that a call writes as the agent that it acts as. */
function writtenState({ on, grant }: LookPlace, input: JsonObject): State {
  const agent = actingAgent(grant, textIn(input, 'agent'));
  return agent === '' ? on.state : on.state.as(agent);
}

type StateVerb = 'get' | 'keys' | 'scan' | 'history' | 'replay' | 'diff' | 'transaction';

/** The verbs of the state of one agent. */
export const stateVerbs: Readonly<Record<`state.${StateVerb}`, VerbEntry>> = {
  'state.get': {
    about: 'Returns the value of a key, at a point or at a version.',
    rights: ['read'],
    at: 'look',
    takes: { key: 'text', version: 'number?', ...ofAgent },
    isOfAgent: true,
    one: (place, input) => stateOf(place, input).get(textIn(input, 'key'), apart(input, 'agent', 'key')),
  },
  'state.keys': {
    about: 'Lists the keys that have a value.',
    rights: ['read'],
    at: 'look',
    takes: { prefix: 'text?', ...listing, ...ofAgent },
    isOfAgent: true,
    many: (place, input) =>
      pagesOf(stateOf(place, input).keys(textIn(input, 'prefix'), apart(input, 'agent', 'prefix'))),
  },
  'state.scan': {
    about: 'Returns every value under a prefix.',
    rights: ['read'],
    at: 'look',
    takes: { prefix: 'text?', ...listing, ...ofAgent },
    isOfAgent: true,
    many: (place, input) =>
      pagesOf(stateOf(place, input).scan(textIn(input, 'prefix'), apart(input, 'agent', 'prefix'))),
  },
  'state.history': {
    about: 'Returns every version of a key, the last one first.',
    rights: ['read'],
    at: 'look',
    takes: { key: 'text', ...listing, ...ofAgent },
    isOfAgent: true,
    many: (place, input) => pagesOf(stateOf(place, input).history(textIn(input, 'key'), apart(input, 'agent', 'key'))),
  },
  'state.replay': {
    about: 'Reads the transactions of a branch again, in order; those of every agent if `agent` is null.',
    rights: ['read'],
    at: 'look',
    takes: {
      ...takes<Omit<StateReplayOptions, 'signal' | 'agent'>>({
        after: 'number?',
        through: 'number?',
        since: 'text?',
        until: 'text?',
        follow: 'flag?',
        limit: 'number?',
      }),
      agent: 'any?',
    },
    isOfAgent: true,
    many: (place, input) => {
      const { look, on, ref, grant, until } = place;
      // To read its own state instead would be the answer to a different question.
      if (input['agent'] !== undefined && input['agent'] !== grant.agent)
        checkUnbound(grant, 'replay the state of other agents');
      const options = { ...input, ...given({ agent: grant.agent }), signal: until(input) };
      const state = ref.at.kind === 'head' || input['follow'] === true ? on.state : look.state;
      return pagesOf(state.replay(options as StateReplayOptions));
    },
  },
  'state.diff': {
    about: 'Compares the state at two points of a session; `other` is the later one.',
    rights: ['read'],
    at: 'look',
    takes: { other: 'text', prefix: 'text?', ...ofAgent },
    isOfAgent: true,
    many: (place, input) => {
      const options = apart<{ prefix?: string }>(input, 'agent', 'other');
      const { state } = place.lookAt(textIn(input, 'other'));
      return pagesOf(stateOf(place, input).diff({ state }, options));
    },
  },
  'state.transaction': {
    about: 'Commits operations in one call, if nothing that was read has changed.',
    rights: writing,
    at: 'branch',
    takes: {
      operations: 'list',
      read: 'list?',
      ...takes<Omit<TransactionOptions, 'txn' | 'timeoutMs'>>({ cause: 'text?', run: 'text?', turn: 'number?' }),
      ...ofAgent,
    },
    isOfAgent: true,
    knowsRequests: true,
    one: (place, input) =>
      commitOnce(
        { state: writtenState(place, input), branch: place.ref.branch, bound: place.grant.agent, locate: place.locate },
        {
          operations: listIn(input, 'operations'),
          read: listIn(input, 'read'),
          requestId: textIn(input, 'requestId'),
          options: apart(input, 'operations', 'read', 'requestId', 'agent'),
        },
      ),
  },
};
