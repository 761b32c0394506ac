import type { Event } from '../../core/event/event.ts';
import type { Belief } from '../../core/fleet/belief.ts';
import type { OnBranch } from '../context/on-branch.ts';
import type { Where } from '../history/where.ts';
import { type CommitOptions, type CommittedBelief, commitBelief } from './commit-belief.ts';
import { type BeliefsQuery, beliefsAt, checkBeliefs } from './fleet-at.ts';
import { fleetAtPlace } from './fleet-look.ts';
import { Judge } from './judge.ts';
import { type RevertBeliefOptions, type RevertedBelief, revertBelief } from './revert-belief.ts';
import { strategyIn } from './settle.ts';
import { type SettledTold, settleTold } from './settle-told.ts';
import { type StrategyOptions, setStrategy } from './strategy.ts';

/** The beliefs of a fleet at one place: the claims on topics, and the rule that settles contradictions. */
export class BeliefsReader {
  protected readonly where: Where;

  constructor(where: Where) {
    this.where = where;
  }

  /**
   * Returns the claims that stand: what the view has at the place, and of a look in story time what belongs to that turn
   * or an earlier one. Nothing that is appended later changes the answer of a look.
   *
   * @example
   * ```ts
   * await session.beliefs.commit({ topic: 'diagnosis', kind: 'decision', claim: 'a bad deploy', turn: 5 });
   * await session.beliefs.commit({ topic: 'diagnosis', kind: 'decision', claim: 'the pool', turn: 20 });
   * const [then] = await session.at('@story:15').beliefs.list({ topic: 'diagnosis' }); // a bad deploy
   * ```
   */
  async list(query: BeliefsQuery = {}): Promise<readonly Belief[]> {
    checkBeliefs(query);
    return beliefsAt(this.where.engine, await this.where.told(), query);
  }

  /**
   * Returns the rule by which contradictions are settled.
   *
   * @example
   * ```ts
   * console.log(await session.beliefs.strategy()); // 'last-write-wins'
   * ```
   */
  async strategy(): Promise<string> {
    const place = await this.where.place('read the strategy');
    return strategyIn((await fleetAtPlace(this.where.engine, place)).table);
  }
}

/** The beliefs of a fleet on one branch: claims on topics, of which contradicting ones are settled as they are committed. */
export class Beliefs extends BeliefsReader {
  readonly #on: OnBranch;
  readonly #judge: Judge;

  constructor(where: Where, on: OnBranch, judge: Judge = new Judge(where.engine)) {
    super(where);
    this.#on = on;
    this.#judge = judge;
  }

  /**
   * Commits a claim in one append, compares it with every other claim on its topic, and returns whether it stands.
   *
   * @example
   * ```ts
   * const claim = { agent: 'triage', topic: 'diagnosis', kind: 'decision', claim: 'a bad deploy', turn: 5 } as const;
   * const { belief, stands, settled } = await session.beliefs.commit(claim);
   * ```
   */
  commit(options: CommitOptions): Promise<CommittedBelief> {
    return commitBelief(this.where.engine, this.#on, options, { judge: this.#judge });
  }

  /**
   * Settles the claims that were appended by hand or told to a recorder.
   *
   * @example
   * ```ts
   * await session.append({ type: 'belief.committed', agent: 'db', data: { claim: 'full', topic: 'pool', kind: 'fact' } });
   * const { claims, settled } = await session.beliefs.settle();
   * ```
   */
  settle(): Promise<SettledTold> {
    return settleTold(this.where.engine, this.#on, this.#judge);
  }

  /**
   * Takes a claim back with what it led to. The claims that it had superseded stand again, unless `restore` is false, and
   * are settled with those that stand on their topics now.
   *
   * @example
   * ```ts
   * const { belief } = await session.beliefs.commit({ topic: 'diagnosis', kind: 'decision', claim: 'a bad deploy' });
   * await session.beliefs.revert(belief.id, { reason: 'it was the pool' });
   * ```
   */
  revert(id: string, options: RevertBeliefOptions = {}): Promise<RevertedBelief> {
    return revertBelief(this.where.engine, this.#on, id, { options, judge: this.#judge });
  }

  /**
   * Changes the rule by which contradictions are settled from now on: `last-write-wins`, `highest-trust`, or one that
   * `branch.using` was given. It is kept with the session.
   *
   * @example
   * ```ts
   * await session.beliefs.setStrategy('highest-trust', { reason: 'the interns talk too much' });
   * ```
   */
  setStrategy(strategy: string, options: StrategyOptions = {}): Promise<Event> {
    return setStrategy(this.where.engine, this.#on, strategy, { options, judge: this.#judge });
  }
}
