import {
  applyEvent,
  defineProjection,
  finishValue,
  initialValue,
  type Projection,
} from '../../core/event/projection.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import { checkNoMore } from '../../core/known-keys.ts';
import type { PointInput } from '../../core/ref.ts';
import type { Replay } from '../../core/session/session-log.ts';
import type { CommitOptions, CommittedBelief } from '../believing/commit-belief.ts';
import { type BeliefsQuery, checkBeliefs } from '../believing/fleet-at.ts';
import { placeOnBranch, Where } from '../history/where.ts';
import { State, StateReader } from '../state/state.ts';
import type { AgentKnowledge, AgentReplayOptions, AgentSource } from './agent-source.ts';

/** The beliefs that one agent could see. */
export class AgentBeliefsReader {
  protected readonly source: AgentSource;

  constructor(source: AgentSource) {
    this.source = source;
  }

  /**
   * Returns the claims that stood there and that the agent could see then.
   *
   * @example
   * ```ts
   * const seen = await session.at('@story:15').as('db').beliefs.list();
   * ```
   */
  async list(query: BeliefsQuery = {}): Promise<readonly Belief[]> {
    checkBeliefs(query);
    return this.source.beliefs(query);
  }
}

/** The beliefs of one agent on a branch. */
export class AgentBeliefs extends AgentBeliefsReader {
  /**
   * Commits a claim of this agent; `scope.denied` unless it may see the topic, or if it says more `trust` than the agent
   * has there.
   *
   * @example
   * ```ts
   * await session.spawn('db', { scope: ['database'] });
   * await session.as('db').beliefs.commit({ topic: 'database', kind: 'fact', claim: 'The pool is full' });
   * ```
   */
  commit(claim: Omit<CommitOptions, 'agent'>): Promise<CommittedBelief> {
    return this.source.commit(claim);
  }
}

/**
 * Sees a history as one agent: its own events and state, and the beliefs on topics in its scope. The scope is that of the
 * moment it looks at.
 */
export class AgentLook {
  protected readonly source: AgentSource;

  constructor(source: AgentSource) {
    this.source = source;
  }

  /** Whose view it is. */
  get agent(): string {
    return this.source.agent;
  }

  /** The state of this agent, and of no other. */
  get state(): StateReader {
    return new StateReader(this.source.state);
  }

  /** The beliefs that this agent could see. */
  get beliefs(): AgentBeliefsReader {
    return new AgentBeliefsReader(this.source);
  }

  /**
   * Reads again what the agent could see: its own events, and beliefs in its scope.
   *
   * @example
   * ```ts
   * for await (const { seq, type } of session.at('main@5').as('support').replay()) console.log(seq, type);
   * ```
   */
  replay(options: AgentReplayOptions = {}): Replay {
    return this.source.replay(options);
  }

  /**
   * Returns the result of a projection over what the agent could see.
   *
   * @example
   * ```ts
   * const { messages } = await session.at('main@5').as('support').fold(conversation);
   * ```
   */
  async fold<Value, Result>(projection: Projection<Value, Result>): Promise<Result> {
    defineProjection(projection);
    const { types } = projection;
    let value = initialValue(projection);
    for await (const event of this.source.replay({ filter: given({ types }) }))
      value = applyEvent(projection, value, event);
    return finishValue(projection, value);
  }

  /**
   * Returns everything the agent knew there: its scope, the beliefs it could see, its state and its messages.
   *
   * @example
   * ```ts
   * const { scope, beliefs: seen, state: held, messages } = await session.at('main@5').as('support').known();
   * ```
   */
  async known(...none: readonly []): Promise<AgentKnowledge> {
    checkNoMore(none, 'see what was known');
    return this.source.known();
  }
}

/** Acts on a branch as one agent, which speaks and writes state for itself alone. */
export class AgentBranch extends AgentLook {
  /** The branch. */
  get name(): string {
    return this.source.where.branch;
  }

  /** The state of this agent, and of no other. */
  override get state(): State {
    return new State(this.source.state);
  }

  /** The claims of this agent, and the beliefs that it may see. */
  override get beliefs(): AgentBeliefs {
    return new AgentBeliefs(this.source);
  }

  /**
   * Returns a look at a point of this branch as this agent.
   *
   * @example
   * ```ts
   * const { beliefs: seen } = await session.as('support').at(5).known();
   * ```
   */
  at(at: PointInput | number): AgentLook {
    const { engine, named, branch } = this.source.where;
    return new AgentLook(this.source.moved(Where.at(engine, placeOnBranch(named, branch, at))));
  }

  /**
   * Returns the same agent on a different branch. A handle that was given to the agent itself stays within its scope on
   * the branch on which the agent got it.
   *
   * @example
   * ```ts
   * const seen = await session.as('support').branch('careful').beliefs.list();
   * ```
   */
  branch(name: string): AgentBranch {
    const { engine, named } = this.source.where;
    return new AgentBranch(this.source.moved(Where.onHead(engine, named, checkId('branch', name))));
  }
}
