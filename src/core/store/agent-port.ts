import type { Abort } from './event-store.ts';
import type { BranchRef } from './session-ref.ts';

/** The calls with one answer. */
export type AgentQuestion = 'getState' | 'commitState' | 'commitBelief' | 'listBeliefs' | 'getKnown';

/** The calls with many answers. */
export type AgentListing = 'listKeys' | 'scanState' | 'getHistory' | 'replayState' | 'diffState' | 'replayAgent';

/**
 * The calls that a token which is bound to an agent may make, as that agent. A store has none of them: the engine runs
 * at the server, since the token may read no rows. Fields and answers are those of the wire.
 */
export interface AgentPort {
  /** The agent that the token is bound to. */
  readonly agent: string;
  /** Makes a call with one answer. */
  ask(call: AgentQuestion, place: BranchRef, fields: Readonly<Record<string, string>>): Promise<unknown>;
  /** Makes a call with many answers. */
  list(
    call: AgentListing,
    place: BranchRef,
    fields: Readonly<Record<string, string>>,
    signal?: Abort,
  ): AsyncGenerator<unknown, void, undefined>;
}

/** A store that may be open for one agent alone. */
export interface AgentKeeper {
  readonly agentPort?: AgentPort;
}
