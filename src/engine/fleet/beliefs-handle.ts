import type { Event } from '../../core/event/event.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkTurn } from '../../core/ref.ts';
import { append } from '../changing/append.ts';
import type { Engine } from '../context/engine.ts';
import type { BeliefsVerbs } from './beliefs-verbs.ts';
import { type CommitOptions, type CommittedBelief, commitBelief } from './commit-belief.ts';
import { fleetAtHead, type OnBranch, turnNow } from './fleet-look.ts';
import { Judge, type JudgeOptions } from './judge.ts';
import { type RevertBeliefOptions, type RevertedBelief, revertBelief } from './revert-belief.ts';
import { strategyIn } from './settle.ts';
import { type SettledTold, settleTold } from './settle-told.ts';

const strategyKeys: KnownKeys = optionKeys<{ reason?: string; turn?: number }>(
  'set the strategy',
  { reason: 'text', turn: 'number' },
  'a change of strategy',
);

/** The beliefs of a fleet on one branch. `BeliefsVerbs` describes the verbs. */
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
    return commitBelief(this.#engine, this.#on, options, { judge: this.#judge });
  }

  settle(): Promise<SettledTold> {
    return settleTold(this.#engine, this.#on, this.#judge);
  }

  revert(id: string, options: RevertBeliefOptions = {}): Promise<RevertedBelief> {
    return revertBelief(this.#engine, this.#on, id, { options, judge: this.#judge });
  }

  async strategy(): Promise<string> {
    return strategyIn((await fleetAtHead(this.#engine, this.#on)).table);
  }

  async setStrategy(
    strategy: string,
    options: { readonly reason?: string; readonly turn?: number } = {},
  ): Promise<Event> {
    checkKeys(options, strategyKeys);
    this.#judge.checkStrategy(strategy);
    const { reason, turn } = options;
    const { place } = await fleetAtHead(this.#engine, this.#on);
    const at = turn === undefined ? await turnNow(this.#engine, place) : checkTurn(turn);
    const draft = { type: 'strategy.changed', turn: at, data: { strategy, ...given({ reason }) } };
    const [event] = await append(this.#engine, this.#session, draft, { branch: this.branch });
    return event as Event;
  }

  get #on(): OnBranch {
    return { session: this.#session, branch: this.branch };
  }
}
