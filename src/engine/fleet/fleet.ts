import type { Event } from '../../core/event/event.ts';
import type { FleetTask } from '../../core/fleet/fleet-task.ts';
import { type FleetAgent, fleetAt } from '../believing/fleet-at.ts';
import type { OnBranch } from '../context/on-branch.ts';
import type { Where } from '../history/where.ts';
import {
  type ClaimTask,
  claimTask,
  type EndTask,
  endTask,
  type FailedVerification,
  failVerification,
  type StartTask,
  startTask,
} from './fleet-tasks.ts';
import { type ChangeOptions, changeAgent, type EndOptions, endAgent } from './register-agent.ts';

/** The fleet at one place: the agents that are there, with their scopes and trust, and their tasks. */
export class FleetReader {
  protected readonly where: Where;

  constructor(where: Where) {
    this.where = where;
  }

  /**
   * Returns the agents that are there: with which role, scope and trust, since when, and with which open tasks.
   *
   * @example
   * ```ts
   * await session.spawn('db', { scope: ['database'] });
   * const [db] = await session.at('@story:15').fleet.agents();
   * ```
   */
  async agents(): Promise<readonly FleetAgent[]> {
    return (await fleetAt(this.where.engine, await this.where.told())).agents;
  }

  /**
   * Returns the tasks that were handed out, with who took them and how they ended.
   *
   * @example
   * ```ts
   * await session.fleet.task.start({ task: 't1', title: 'Find the slow query' });
   * const [task] = await session.fleet.tasks(); // { task: 't1', status: 'open', … }
   * ```
   */
  async tasks(): Promise<readonly FleetTask[]> {
    return (await fleetAt(this.where.engine, await this.where.told())).tasks;
  }
}

/** The tasks of a fleet. Each is taken by one agent and ended once. */
export class Tasks {
  readonly #where: Where;
  readonly #on: OnBranch;

  constructor(where: Where, on: OnBranch) {
    this.#where = where;
    this.#on = on;
  }

  /**
   * Hands a task out; `task.exists` if there is one of that id.
   *
   * @example
   * ```ts
   * await session.fleet.task.start({ task: 't1', title: 'Find the slow query', role: 'database' });
   * ```
   */
  start(options: StartTask): Promise<Event> {
    return startTask(this.#where.engine, this.#on, options);
  }

  /**
   * Lets an agent take a task; `task.claimed` if a different one has it.
   *
   * @example
   * ```ts
   * await session.fleet.task.start({ task: 't1' });
   * await session.fleet.task.claim({ task: 't1', agent: 'db' });
   * ```
   */
  claim(options: ClaimTask): Promise<Event> {
    return claimTask(this.#where.engine, this.#on, options);
  }

  /**
   * Ends a task; `task.ended` if it has ended.
   *
   * @example
   * ```ts
   * await session.fleet.task.start({ task: 't1' });
   * await session.fleet.task.end({ task: 't1', outcome: 'ok', result: 'orders_by_customer' });
   * ```
   */
  end(options: EndTask): Promise<Event> {
    return endTask(this.#where.engine, this.#on, options);
  }

  /**
   * Records that checks of a task's result failed.
   *
   * @example
   * ```ts
   * await session.fleet.task.start({ task: 't1' });
   * await session.fleet.task.verificationFailed({ task: 't1', signals: ['tests'] });
   * ```
   */
  verificationFailed(options: FailedVerification): Promise<Event> {
    return failVerification(this.#where.engine, this.#on, options);
  }
}

/** The agents of a branch and their tasks. `branch.spawn` lets an agent join. */
export class Fleet extends FleetReader {
  readonly #on: OnBranch;

  constructor(where: Where, on: OnBranch) {
    super(where);
    this.#on = on;
  }

  /** Hands out, claims and ends tasks. */
  get task(): Tasks {
    return new Tasks(this.where, this.#on);
  }

  /**
   * Changes the role, scope, trust or model of an agent; `agent.not-spawned` if it is not there.
   *
   * @example
   * ```ts
   * await session.spawn('db', { scope: ['database'] });
   * await session.fleet.change('db', { scope: 'all' });
   * ```
   */
  change(agent: string, options: ChangeOptions): Promise<Event> {
    return changeAgent(this.where.engine, this.#on, agent, options);
  }

  /**
   * Lets an agent leave; `agent.not-spawned` if it is not there.
   *
   * @example
   * ```ts
   * await session.spawn('db');
   * await session.fleet.end('db', { reason: 'the incident is over' });
   * ```
   */
  end(agent: string, options: EndOptions = {}): Promise<Event> {
    return endAgent(this.where.engine, this.#on, agent, options);
  }
}
