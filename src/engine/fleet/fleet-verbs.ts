import type { Event } from '../../core/event/event.ts';
import type { JudgeOptions } from '../believing/judge.ts';
import type { ForwardOptions, ForwardResult } from '../forwarding/run-forward-options.ts';
import type { ClaimTask, EndTask, FailedVerification, StartTask } from './fleet-tasks.ts';
import type { Mutated, Mutation } from './mutate.ts';
import type { ChangeOptions, EndOptions, SpawnOptions } from './register-agent.ts';

/** The tasks of a fleet. Each is taken by one agent and ended once. */
export interface TasksVerbs {
  /**
   * Hands a task out; `task.exists` if there is one of that id.
   *
   * @example
   * ```ts
   * await session.fleet.tasks.start({ task: 't1', title: 'Find the slow query', role: 'database' });
   * ```
   */
  start(options: StartTask): Promise<Event>;

  /**
   * Lets an agent take a task; `task.claimed` if a different one has it.
   *
   * @example
   * ```ts
   * await session.fleet.tasks.start({ task: 't1' });
   * await session.fleet.tasks.claim({ task: 't1', agent: 'db' });
   * ```
   */
  claim(options: ClaimTask): Promise<Event>;

  /**
   * Ends a task; `task.ended` if it has ended.
   *
   * @example
   * ```ts
   * await session.fleet.tasks.start({ task: 't1' });
   * await session.fleet.tasks.end({ task: 't1', outcome: 'ok', result: 'orders_by_customer' });
   * ```
   */
  end(options: EndTask): Promise<Event>;

  /**
   * Records that checks of a task's result failed.
   *
   * @example
   * ```ts
   * await session.fleet.tasks.start({ task: 't1' });
   * await session.fleet.tasks.verificationFailed({ task: 't1', signals: ['tests'] });
   * ```
   */
  verificationFailed(options: FailedVerification): Promise<Event>;
}

/** The agents of a branch, their tasks, and what if they had been different. `session.fleetAt` looks at them. */
export interface FleetVerbs {
  readonly branch: string;
  /** The tasks of the fleet. */
  readonly tasks: TasksVerbs;

  /**
   * Returns the fleet of a different branch, with the same checker and rules.
   *
   * @example
   * ```ts
   * await session.fleet.on('careful').spawn('auditor', { scope: ['refunds'] });
   * ```
   */
  on(branch: string): FleetVerbs;

  /**
   * Returns the same fleet with a checker and rules of the caller, for its claims.
   *
   * @example
   * ```ts
   * const fleetOfMine = session.fleet.using({ contradicts: (existing, added) => existing.claim !== added.claim });
   * ```
   */
  using(options: JudgeOptions): FleetVerbs;

  /**
   * Lets an agent join, now or from a turn to come; `agent.exists` if it is there. Without a scope it sees every topic,
   * with an empty one nothing.
   *
   * @example
   * ```ts
   * await session.fleet.spawn('db', { role: 'database specialist', scope: ['database', 'telemetry'], trust: 0.9 });
   * ```
   */
  spawn(agent: string, options?: SpawnOptions): Promise<Event>;

  /**
   * Changes the role, scope, trust or model of an agent; `agent.not-spawned` if it is not there.
   *
   * @example
   * ```ts
   * await session.fleet.spawn('db', { scope: ['database'] });
   * await session.fleet.change('db', { scope: 'all' });
   * ```
   */
  change(agent: string, options: ChangeOptions): Promise<Event>;

  /**
   * Lets an agent leave; `agent.not-spawned` if it is not there.
   *
   * @example
   * ```ts
   * await session.fleet.spawn('db');
   * await session.fleet.end('db', { reason: 'the incident is over' });
   * ```
   */
  end(agent: string, options?: EndOptions): Promise<Event>;

  /**
   * Changes what is believed, the state, the rule, or who an agent is, from the turn after the fork on. A claim takes the
   * place of everything that stands on its topic.
   *
   * @example
   * ```ts
   * const what = await session.fork({ turn: 1 }, { name: 'what-if' });
   * await what.mutate({ agent: 'triage', topic: 'diagnosis', claim: 'the connection pool' });
   * ```
   */
  mutate(mutation: Mutation): Promise<Mutated>;

  /**
   * Drives the branch turn by turn: calls the caller's function for each agent of each turn, with the agent's surface and
   * a recorder. With `reuseUnchanged`, a recorded turn is repeated if everything that went into it is on the branch.
   *
   * @example
   * ```ts
   * const what = await session.fork({ turn: 1 }, { name: 'what-if' });
   * await what.spawn('db', { scope: ['database'] });
   * const { results, live } = await what.runForward({
   *   untilTurn: 3,
   *   onTurn: { db: ({ self, turn }) => self.beliefs.commit({ topic: 'database', claim: `checked in turn ${turn}`, turn }) },
   * });
   * ```
   */
  runForward<Result>(options: ForwardOptions<Result>): Promise<ForwardResult<Result>>;
}
