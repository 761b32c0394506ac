import type { JsonInput } from '../json.ts';
import type { Abort } from './event-store.ts';

/** The verbs with one answer. */
export type AgentQuestion =
  | 'state.get'
  | 'state.transaction'
  | 'agent.beliefs.commit'
  | 'agent.beliefs.list'
  | 'agent.known';

/** The verbs with many answers. */
export type AgentListing =
  | 'state.keys'
  | 'state.scan'
  | 'state.history'
  | 'state.replay'
  | 'state.diff'
  | 'agent.replay';

/** The arguments of a verb: where it acts, and what it takes. */
export interface AgentArguments extends JsonInput {
  readonly namespace: string;
  readonly ref: string;
}

/**
 * The verbs that a token which is bound to an agent may ask for, as that agent. A store has none of them: the engine runs
 * at the server, since the token may read no rows. Verbs, arguments and answers are those of the wire.
 */
export interface AgentPort {
  /** The agent that the token is bound to. */
  readonly agent: string;
  /** Asks for a verb with one answer. */
  ask(verb: AgentQuestion, input: AgentArguments): Promise<unknown>;
  /** Asks for a verb with many answers. */
  list(verb: AgentListing, input: AgentArguments, signal?: Abort): AsyncGenerator<unknown, void, undefined>;
}

/** A store that may be open for one agent alone. */
export interface AgentKeeper {
  readonly agentPort?: AgentPort;
}
