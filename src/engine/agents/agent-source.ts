import type { Belief } from '../../core/fleet/belief.ts';
import type { Scope } from '../../core/fleet/registration.ts';
import type { ConversationMessage } from '../../core/session/conversation-lane.ts';
import type { Replay, ReplayOptions } from '../../core/session/session-log.ts';
import type { CommitOptions, CommittedBelief } from '../believing/commit-belief.ts';
import type { BeliefsQuery } from '../believing/fleet-at.ts';
import type { Where } from '../history/where.ts';
import type { StateValue } from '../state/entry.ts';
import type { StateSource } from '../state/state-source.ts';

/** How an agent reads its history again: never the raw one, and not what is still to come. */
export type AgentReplayOptions = Omit<ReplayOptions, 'history'>;

/** How to act as an agent. */
export interface AsOptions {
  /**
   * Whether the agent itself gets the handle. Then it sees only what is in its scope now, too: neither an old look nor
   * a look at a different branch gives back what was taken from it on this one.
   */
  readonly handed?: boolean;
}

/** Everything an agent knew at a point. */
export interface AgentKnowledge {
  readonly agent: string;
  /** Whether it was there. */
  readonly isThere: boolean;
  /** The topics it could see; none if it was not there. */
  readonly scope: Scope;
  /** The claims that stood and that it could see. */
  readonly beliefs: readonly Belief[];
  /** Its own state. */
  readonly state: readonly StateValue[];
  /** The messages of its conversation. */
  readonly messages: readonly ConversationMessage[];
}

/**
 * Where the view of one agent comes from: the store, or a server that decides what a token of that agent alone may see.
 */
export interface AgentSource {
  readonly agent: string;
  /** Where it looks. */
  readonly where: Where;
  readonly state: StateSource;
  /** Returns the same agent at a different place of the session. */
  moved(where: Where): AgentSource;
  beliefs(query: BeliefsQuery): Promise<readonly Belief[]>;
  replay(options: AgentReplayOptions): Replay;
  known(): Promise<AgentKnowledge>;
  commit(claim: Omit<CommitOptions, 'agent'>): Promise<CommittedBelief>;
}
