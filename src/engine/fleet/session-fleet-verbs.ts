import type { Event } from '../../core/event/event.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import type { PointInput } from '../../core/ref.ts';
import type { Replay } from '../../core/session/session-log.ts';
import type { AgentVerbs, AsOptions } from '../agents/agent-verbs.ts';
import type { AuditOptions } from '../believing/audit.ts';
import type { BeliefsVerbs } from '../believing/beliefs-verbs.ts';
import type { FleetState } from '../believing/fleet-at.ts';
import type { BeliefsAtOptions, TwoTimes } from '../believing/fleet-times.ts';
import type { ForwardOptions, ForwardResult } from '../forwarding/run-forward-options.ts';
import type { FleetVerbs } from './fleet-verbs.ts';
import type { Mutated, Mutation } from './mutate.ts';
import type { SpawnOptions } from './register-agent.ts';

/** The verbs of a session that are about its fleet: agents, beliefs and tasks. */
export interface SessionFleetVerbs {
  /**
   * The beliefs of the fleet on `main`: claims on topics, of which contradicting ones are settled as they are committed.
   *
   * @example
   * ```ts
   * await session.beliefs.commit({ agent: 'triage', topic: 'diagnosis', kind: 'decision', claim: 'a bad deploy' });
   * ```
   */
  readonly beliefs: BeliefsVerbs;

  /**
   * The agents of `main`, with their scopes and trust, and their tasks.
   *
   * @example
   * ```ts
   * await session.fleet.spawn('db', { scope: ['database'], trust: 0.9 });
   * ```
   */
  readonly fleet: FleetVerbs;

  /**
   * Returns the surface of one agent, on `main` unless a branch is named: its own events and state, and the beliefs in its scope.
   *
   * @example
   * ```ts
   * const { scope, beliefs: seen, messages } = await session.as('support').knownAt('main@5');
   * ```
   */
  as(agent: string, options?: AsOptions): AgentVerbs;

  /**
   * Returns the claims that stand at a moment of the two times: what is in the view at a seq and not after a turn.
   * Nothing that is appended later changes an earlier answer.
   *
   * @example
   * ```ts
   * await session.beliefs.commit({ topic: 'diagnosis', kind: 'decision', claim: 'a bad deploy', turn: 5 });
   * await session.beliefs.commit({ topic: 'diagnosis', kind: 'decision', claim: 'the pool', turn: 20 });
   * const [then] = await session.beliefsAt({ turn: 15, topic: 'diagnosis' }); // a bad deploy
   * ```
   */
  beliefsAt(options?: BeliefsAtOptions): Promise<readonly Belief[]>;

  /**
   * Returns who is there at a point or a moment of the two times: with which scope and trust, since when, and with which
   * tasks. `{ turn }` selects by turn; a point string such as `@turn:3` is a point.
   *
   * @example
   * ```ts
   * await session.fleet.spawn('db', { scope: ['database'] });
   * const { agents, tasks } = await session.fleetAt({ turn: 15 });
   * ```
   */
  fleetAt(where?: PointInput | TwoTimes): Promise<FleetState>;

  /**
   * Returns the events about beliefs, contradictions, agents, tasks and markers, of the raw history: who did what, when
   * and why. A limit keeps the newest, and the oldest of them comes first.
   *
   * @example
   * ```ts
   * for await (const { seq, type, agent } of session.audit({ limit: 20 })) console.log(seq, type, agent);
   * ```
   */
  audit(options?: AuditOptions): Replay;
}

/** The verbs of a branch that are about its fleet. Those without a comment here do what the session's verb of that name does. */
export interface BranchFleetVerbs {
  /** The beliefs of the fleet on this branch. */
  readonly beliefs: BeliefsVerbs;
  /** The agents of this branch, and their tasks. */
  readonly fleet: FleetVerbs;
  beliefsAt: SessionFleetVerbs['beliefsAt'];
  fleetAt: SessionFleetVerbs['fleetAt'];
  audit: SessionFleetVerbs['audit'];

  /**
   * Returns the surface of one agent on this branch.
   *
   * @example
   * ```ts
   * const seen = await branch.as('support', { handed: true }).beliefsAt();
   * ```
   */
  as(agent: string, options?: Omit<AsOptions, 'branch'>): AgentVerbs;

  /**
   * Lets an agent join this branch, as `branch.fleet.spawn` does.
   *
   * @example
   * ```ts
   * await branch.spawn('auditor', { scope: ['refunds'] });
   * ```
   */
  spawn(agent: string, options?: SpawnOptions): Promise<Event>;

  /**
   * Changes what was on this branch, as `branch.fleet.mutate` does.
   *
   * @example
   * ```ts
   * const { turn, committed } = await branch.mutate({ agent: 'support', topic: 'order', claim: 'It was a gift' });
   * ```
   */
  mutate(mutation: Mutation): Promise<Mutated>;

  /**
   * Drives this branch turn by turn, as `branch.fleet.runForward` does.
   *
   * @example
   * ```ts
   * const { results } = await branch.runForward({ untilTurn: 3, onTurn: ({ turn }) => `turn ${turn}` });
   * ```
   */
  runForward<Result>(options: ForwardOptions<Result>): Promise<ForwardResult<Result>>;
}
