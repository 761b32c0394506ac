import type { Event } from '../../core/event/event.ts';
import type { CommitOptions, CommittedBelief } from './commit-belief.ts';
import type { JudgeOptions } from './judge.ts';
import type { RevertBeliefOptions, RevertedBelief } from './revert-belief.ts';
import type { SettledTold } from './settle-told.ts';
import type { StrategyOptions } from './strategy.ts';

/**
 * The beliefs of a fleet on one branch: claims on topics, of which contradicting ones are settled as they are committed.
 * `session.beliefsAt` looks at them.
 */
export interface BeliefsVerbs {
  readonly branch: string;

  /**
   * Returns the beliefs of a different branch, with the same checker and rules.
   *
   * @example
   * ```ts
   * await session.beliefs.on('careful').commit({ agent: 'triage', topic: 'order', kind: 'fact', claim: 'It is a gift' });
   * ```
   */
  on(branch: string): BeliefsVerbs;

  /**
   * Returns the same beliefs with a checker and rules of the caller. A checker or rule that throws, hangs or answers
   * nonsense does not stop a commit: `last-write-wins` decides instead, and the verdict says why.
   *
   * @example
   * ```ts
   * const beliefs = session.beliefs.using({
   *   contradicts: async (existing, added) => existing.claim !== added.claim, // a model could answer this
   *   strategies: { seniority: (added, existing) => (added.agent === 'lead' ? 'new' : 'existing') },
   *   timeoutMs: 5_000,
   * });
   * ```
   */
  using(options: JudgeOptions): BeliefsVerbs;

  /**
   * Commits a claim in one append, holds it against every other claim on its topic, and returns whether it stands.
   *
   * @example
   * ```ts
   * const claim = { agent: 'triage', topic: 'diagnosis', kind: 'decision', claim: 'a bad deploy', turn: 5 } as const;
   * const { belief, stands, settled } = await session.beliefs.commit(claim);
   * ```
   */
  commit(options: CommitOptions): Promise<CommittedBelief>;

  /**
   * Settles the claims that were appended by hand or told to a recorder.
   *
   * @example
   * ```ts
   * await session.append({ type: 'belief.committed', agent: 'db', data: { claim: 'full', topic: 'pool', kind: 'fact' } });
   * const { claims, settled } = await session.beliefs.settle();
   * ```
   */
  settle(): Promise<SettledTold>;

  /**
   * Takes a claim back with what it led to. The claims that it had superseded stand again, unless `restore` is false, and
   * are settled with those that stand beside them now.
   *
   * @example
   * ```ts
   * const { belief } = await session.beliefs.commit({ topic: 'diagnosis', kind: 'decision', claim: 'a bad deploy' });
   * await session.beliefs.revert(belief.id, { reason: 'it was the pool' });
   * ```
   */
  revert(id: string, options?: RevertBeliefOptions): Promise<RevertedBelief>;

  /**
   * Returns the rule by which contradictions on this branch are settled.
   *
   * @example
   * ```ts
   * console.log(await session.beliefs.strategy()); // 'last-write-wins'
   * ```
   */
  strategy(): Promise<string>;

  /**
   * Changes the rule by which contradictions are settled from now on: `last-write-wins`, `highest-trust`, or one that
   * `using` was given. It is kept with the session.
   *
   * @example
   * ```ts
   * await session.beliefs.setStrategy('highest-trust', { reason: 'the interns talk too much' });
   * ```
   */
  setStrategy(strategy: string, options?: StrategyOptions): Promise<Event>;
}
