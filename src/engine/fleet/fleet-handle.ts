import type { Event } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import type { OnBranch } from '../believing/fleet-look.ts';
import { Judge, type JudgeOptions } from '../believing/judge.ts';
import type { Engine } from '../context/engine.ts';
import type { ForwardOptions, ForwardResult } from '../forwarding/run-forward-options.ts';
import type { FleetVerbs, TasksVerbs } from './fleet-verbs.ts';
import type { Mutated, Mutation } from './mutate.ts';
import type { ChangeOptions, EndOptions, SpawnOptions } from './register-agent.ts';

/** The agents of a branch, and their tasks. `FleetVerbs` describes the verbs; their code is loaded on first use. */
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
    const verbs = () => import('./fleet-tasks.ts');
    return {
      start: async (options) => (await verbs()).startTask(engine, on, options),
      claim: async (options) => (await verbs()).claimTask(engine, on, options),
      end: async (options) => (await verbs()).endTask(engine, on, options),
      verificationFailed: async (options) => (await verbs()).failVerification(engine, on, options),
    };
  }

  async spawn(agent: string, options: SpawnOptions = {}): Promise<Event> {
    const { spawnAgent } = await import('./register-agent.ts');
    return spawnAgent(this.#engine, this.#on, agent, options);
  }

  async change(agent: string, options: ChangeOptions): Promise<Event> {
    const { changeAgent } = await import('./register-agent.ts');
    return changeAgent(this.#engine, this.#on, agent, options);
  }

  async end(agent: string, options: EndOptions = {}): Promise<Event> {
    const { endAgent } = await import('./register-agent.ts');
    return endAgent(this.#engine, this.#on, agent, options);
  }

  async mutate(mutation: Mutation): Promise<Mutated> {
    const { mutate } = await import('./mutate.ts');
    return mutate(this.#engine, this.#on, mutation, this.#judge);
  }

  async runForward<Result>(options: ForwardOptions<Result>): Promise<ForwardResult<Result>> {
    const { runForward } = await import('../forwarding/run-forward.ts');
    return runForward(this.#engine, this.#on, options, this.#judge);
  }

  get #on(): OnBranch {
    return { session: this.#session, branch: this.branch };
  }
}
