import type { Event } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import type { Engine } from '../context/engine.ts';
import type { BeliefsVerbs } from './beliefs-verbs.ts';
import type { CommitOptions, CommittedBelief } from './commit-belief.ts';
import type { OnBranch } from './fleet-look.ts';
import { Judge, type JudgeOptions } from './judge.ts';
import type { RevertBeliefOptions, RevertedBelief } from './revert-belief.ts';
import type { SettledTold } from './settle-told.ts';
import type { StrategyOptions } from './strategy.ts';

/** The beliefs of a fleet on one branch. `BeliefsVerbs` describes the verbs; their code is loaded on first use. */
export class BeliefsHandle implements BeliefsVerbs {
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

  on(branch: string): BeliefsHandle {
    return new BeliefsHandle(this.#engine, { session: this.#session, branch: checkId('branch', branch) }, this.#judge);
  }

  using(options: JudgeOptions): BeliefsHandle {
    return new BeliefsHandle(this.#engine, this.#on, new Judge(this.#engine, options));
  }

  async commit(options: CommitOptions): Promise<CommittedBelief> {
    const { commitBelief } = await import('./commit-belief.ts');
    return commitBelief(this.#engine, this.#on, options, { judge: this.#judge });
  }

  async settle(): Promise<SettledTold> {
    const { settleTold } = await import('./settle-told.ts');
    return settleTold(this.#engine, this.#on, this.#judge);
  }

  async revert(id: string, options: RevertBeliefOptions = {}): Promise<RevertedBelief> {
    const { revertBelief } = await import('./revert-belief.ts');
    return revertBelief(this.#engine, this.#on, id, { options, judge: this.#judge });
  }

  async strategy(): Promise<string> {
    const { strategyOn } = await import('./strategy.ts');
    return strategyOn(this.#engine, this.#on);
  }

  async setStrategy(strategy: string, options: StrategyOptions = {}): Promise<Event> {
    const { setStrategy } = await import('./strategy.ts');
    return setStrategy(this.#engine, this.#on, strategy, { options, judge: this.#judge });
  }

  get #on(): OnBranch {
    return { session: this.#session, branch: this.branch };
  }
}
