import type { Projection } from '../../core/event/projection.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import type { Scope } from '../../core/fleet/registration.ts';
import type { PointInput } from '../../core/ref.ts';
import type { ConversationMessage } from '../../core/session/conversation-lane.ts';
import type { Replay, ReplayOptions } from '../../core/session/session-log.ts';
import type { CommitOptions, CommittedBelief } from '../believing/commit-belief.ts';
import type { BeliefsAtOptions } from '../believing/fleet-times.ts';
import type { StateValue } from '../state/entry.ts';
import type { StateVerbs } from '../state/state-verbs.ts';

/** How an agent reads its history again: never the raw one, and not what is still to come. */
export type AgentReplayOptions = Omit<ReplayOptions, 'history' | 'follow'>;

/** How to act as an agent. */
export interface AsOptions {
  /** The branch of the surface; `main` if left out. */
  readonly branch?: string;
  /**
   * Whether the agent itself gets the surface. Then it sees only what is also in its scope now: neither an old look nor a
   * look at a different branch gives back what was taken from it on this one.
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

/** The claims of one agent. */
export interface AgentBeliefs {
  /**
   * Commits a claim of this agent; `scope.denied` unless it may see the topic, or if it says more `trust` than the agent
   * has there.
   *
   * @example
   * ```ts
   * await session.fleet.spawn('db', { scope: ['database'] });
   * await session.as('db').beliefs.commit({ topic: 'database', kind: 'fact', claim: 'The pool is full' });
   * ```
   */
  commit(options: Omit<CommitOptions, 'agent'>): Promise<CommittedBelief>;
}

/**
 * The surface of one agent: it may see its own events and state, and the beliefs on topics in its scope. The
 * scope is that of the moment it asks about.
 */
export interface AgentVerbs {
  readonly agent: string;
  readonly branch: string;
  /** The claims of this agent. */
  readonly beliefs: AgentBeliefs;
  /** The state of this agent, and of no other. */
  readonly state: StateVerbs;

  /**
   * Returns the same agent's surface on a different branch. A surface that the agent itself holds stays within its scope
   * on the branch on which the agent got it.
   *
   * @example
   * ```ts
   * const seen = await session.as('support').on('careful').beliefsAt();
   * ```
   */
  on(branch: string): AgentVerbs;

  /**
   * Returns the claims that stood at a moment and that the agent could see then.
   *
   * @example
   * ```ts
   * const seen = await session.as('db').beliefsAt({ turn: 15 });
   * ```
   */
  beliefsAt(options?: BeliefsAtOptions): Promise<readonly Belief[]>;

  /**
   * Reads again what the agent could see: its own events, and beliefs in its scope.
   *
   * @example
   * ```ts
   * for await (const { seq, type } of session.as('support').replay({ at: 'main@5' })) console.log(seq, type);
   * ```
   */
  replay(options?: AgentReplayOptions): Replay;

  /**
   * Returns the result of a projection over what the agent could see.
   *
   * @example
   * ```ts
   * const { messages } = await session.as('support').stateAt('main@5', conversation);
   * ```
   */
  stateAt<Value, Result>(point: PointInput, projection: Projection<Value, Result>): Promise<Result>;

  /**
   * Returns everything the agent knew at a point: its scope, the beliefs it could see, its state and its messages.
   *
   * @example
   * ```ts
   * const { scope, beliefs: seen, state: held, messages } = await session.as('support').knownAt('main@5');
   * ```
   */
  knownAt(point?: PointInput): Promise<AgentKnowledge>;
}
