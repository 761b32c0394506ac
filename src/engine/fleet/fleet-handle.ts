import type { Event } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from './fleet-look.ts';
import { claimTask, endTask, failVerification, startTask } from './fleet-tasks.ts';
import type { FleetVerbs, TasksVerbs } from './fleet-verbs.ts';
import { Judge, type JudgeOptions } from './judge.ts';
import { type Mutated, type Mutation, mutate } from './mutate.ts';
import {
  type ChangeOptions,
  changeAgent,
  type EndOptions,
  endAgent,
  type SpawnOptions,
  spawnAgent,
} from './register-agent.ts';
import { runForward } from './run-forward.ts';
import type { ForwardOptions, ForwardResult } from './run-forward-options.ts';

/** The agents of a branch, and their tasks. `FleetVerbs` describes the verbs. */
export class FleetHandle implements FleetVerbs {
  readonly branch: string;
  readonly #engine: Engine;
  readonly #session: string;
  readonly #judge: Judge;

  constructor(engine: Engine, { session, branch }: OnBranch, judge: Judge = new Judge(engine)) {
    this.#engine = engine;
    this.#session = session;
    this.branch = branch;
    this.#judge = judge;
  }

  on(branch: string): FleetHandle {
    return new FleetHandle(this.#engine, { session: this.#session, branch: checkId('branch', branch) }, this.#judge);
  }

  using(options: JudgeOptions): FleetHandle {
    return new FleetHandle(this.#engine, this.#on, new Judge(this.#engine, options));
  }

  get tasks(): TasksVerbs {
    const [engine, on] = [this.#engine, this.#on];
    return {
      start: (options) => startTask(engine, on, options),
      claim: (options) => claimTask(engine, on, options),
      end: (options) => endTask(engine, on, options),
      verificationFailed: (options) => failVerification(engine, on, options),
    };
  }

  spawn(agent: string, options: SpawnOptions = {}): Promise<Event> {
    return spawnAgent(this.#engine, this.#on, agent, options);
  }

  change(agent: string, options: ChangeOptions): Promise<Event> {
    return changeAgent(this.#engine, this.#on, agent, options);
  }

  end(agent: string, options: EndOptions = {}): Promise<Event> {
    return endAgent(this.#engine, this.#on, agent, options);
  }

  mutate(mutation: Mutation): Promise<Mutated> {
    return mutate(this.#engine, this.#on, mutation, this.#judge);
  }

  runForward<Result>(options: ForwardOptions<Result>): Promise<ForwardResult<Result>> {
    return runForward(this.#engine, this.#on, options, this.#judge);
  }

  get #on(): OnBranch {
    return { session: this.#session, branch: this.branch };
  }
}
