import { BoundedMap } from '../../core/bounded-map.ts';
import { messageOf, RepriseError } from '../../core/error.ts';
import { type Belief, type Claim, contentOf } from '../../core/fleet/belief.ts';
import { contradicts } from '../../core/fleet/contradiction.ts';
import { inLogOrder, isLater } from '../../core/fleet/log-order.ts';
import type { Meeting, Verdict } from '../../core/fleet/settling.ts';
import { checkFunction, checkKeys, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import type { Engine } from '../context/engine.ts';

/**
 * Returns true if two claims on one topic contradict each other. It is asked once about each pair, the claim that was there
 * before first.
 */
export type Contradicts = (existing: Claim, added: Claim) => boolean | Promise<boolean>;

/** A rule that settles a contradiction: which of two claims stands. */
export type Strategy = (added: Belief, existing: Belief) => Winner | Promise<Winner>;

/** The claim that stands: the one that was added, or the one that was there before. */
export type Winner = 'new' | 'existing';

/** The checker and the rules that the caller brings. */
export interface JudgeOptions {
  /** The checker of contradictions; the shipped one if left out. */
  readonly contradicts?: Contradicts;
  /** Rules of the caller, by the name that `setStrategy` keeps with the session. */
  readonly strategies?: Readonly<Record<string, Strategy>>;
  /** How long the checker or a rule may take for two claims: 30 seconds if left out. */
  readonly timeoutMs?: number;
}

const judgeKeys: KnownKeys = optionKeys<JudgeOptions>(
  'judge claims',
  { contradicts: 'function', strategies: 'object', timeoutMs: 'number' },
  'a judge of claims',
);

/** The rule of a session that names none: the claim that is later in the story stands. */
export const lastWriteWins = 'last-write-wins';

/** The rule by which the claim that is trusted more stands; a tie keeps the existing one. */
const highestTrust = 'highest-trust';

/** Pairs of claims whose answers a judge keeps, so that a commit that is planned again does not ask again. */
const answersMax = 100_000;

type Answer = { readonly contradicts: boolean } | { readonly fault: string };

/** Decides about claims that meet. It keeps the answers of its checker: each pair is asked about once. */
export class Judge {
  readonly #engine: Engine;
  readonly #options: JudgeOptions;
  readonly #answers = new BoundedMap<string, Answer | Promise<Answer>>(answersMax);

  constructor(engine: Engine, options: JudgeOptions = {}) {
    checkKeys(options, judgeKeys);
    const { timeoutMs } = options;
    if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0))
      throw new RepriseError('option.invalid', `Cannot judge claims with a timeoutMs of ${String(timeoutMs)}`, {
        hint: 'It takes milliseconds, more than 0.',
        details: { option: 'timeoutMs' },
      });
    for (const [name, rule] of Object.entries(options.strategies ?? {}))
      checkFunction(rule, `settle contradictions by the rule "${name}"`);
    this.#engine = engine;
    this.#options = options;
  }

  /** Refuses a rule that is neither shipped nor passed by the caller. */
  checkStrategy(name: string): void {
    const isGiven = typeof name === 'string' && Object.hasOwn(this.#options.strategies ?? {}, name);
    if (name === lastWriteWins || name === highestTrust || isGiven) return;
    throw new RepriseError(
      'strategy.unknown',
      `Cannot settle a contradiction by ${shownValue(name)}: no rule of that name was passed`,
      {
        hint: `Pass it with session.using({ strategies: { … } }), or set "${lastWriteWins}" or "${highestTrust}".`,
        details: { strategy: name },
      },
    );
  }

  /** Returns how a claim and one that it meets are settled by a rule; undefined if both may stand. */
  verdictOn(claim: Belief, strategy: string): (meeting: Meeting) => Promise<Verdict | undefined> | Verdict | undefined {
    return (meeting) => {
      const { other, isSame } = meeting;
      const later = (): Verdict['winner'] => (isLater(claim, other) ? 'claim' : 'other');
      if (isSame) return { winner: later() };
      const answer = this.#answerOn(claim, other);
      if (answer instanceof Promise) return answer.then((held) => this.#judged(claim, other, strategy, held));
      return this.#judged(claim, other, strategy, answer);
    };
  }

  #judged(
    claim: Belief,
    other: Belief,
    strategy: string,
    answer: Answer,
  ): Promise<Verdict | undefined> | Verdict | undefined {
    const winner = isLater(claim, other) ? 'claim' : 'other';
    if ('fault' in answer) return { winner, strategy: lastWriteWins, fallback: answer.fault };
    if (!answer.contradicts) return undefined;
    if (strategy === lastWriteWins) return { winner, strategy };
    const [existing, added] = inLogOrder(claim, other);
    if (strategy === highestTrust) {
      const stands = added.trust > existing.trust ? added : existing;
      return { winner: stands === claim ? 'claim' : 'other', strategy };
    }
    return this.#byRule(strategy, { claim, existing, added, winner });
  }

  async #byRule(
    strategy: string,
    pair: {
      readonly claim: Belief;
      readonly existing: Belief;
      readonly added: Belief;
      readonly winner: Verdict['winner'];
    },
  ): Promise<Verdict> {
    this.checkStrategy(strategy);
    const { claim, existing, added, winner } = pair;
    const fallen = (fault: string): Verdict => ({ winner, strategy: lastWriteWins, fallback: fault });
    try {
      const rule = this.#options.strategies?.[strategy] as Strategy;
      const said = await this.#inTime(rule(added, existing), `the rule "${strategy}"`);
      if (said !== 'new' && said !== 'existing') return fallen(`the rule "${strategy}" answered ${shownValue(said)}`);
      return { winner: (said === 'new' ? added : existing) === claim ? 'claim' : 'other', strategy };
    } catch (error) {
      return fallen(`the rule "${strategy}" failed: ${messageOf(error)}`);
    }
  }

  #answerOn(claim: Belief, other: Belief): Answer | Promise<Answer> {
    const [existing, added] = inLogOrder(claim, other);
    const check = this.#options.contradicts;
    if (check === undefined) return { contradicts: contradicts(existing, added) };
    const pair = `${existing.id}\n${added.id}`;
    const known = this.#answers.get(pair);
    if (known !== undefined) return known;
    const answer = this.#ask(check, existing, added);
    this.#answers.set(pair, answer);
    return answer;
  }

  #ask(check: Contradicts, existing: Belief, added: Belief): Answer | Promise<Answer> {
    try {
      const said = check(contentOf(existing), contentOf(added));
      if (typeof said === 'boolean') return { contradicts: said };
      return this.#inTime(said, 'the checker').then(answerOf, faultOf);
    } catch (error) {
      return faultOf(error);
    }
  }

  /** Waits for an answer until the time is up. */
  async #inTime<Value>(answer: Value | Promise<Value>, who: string): Promise<Value> {
    const ms = this.#options.timeoutMs ?? limits.judgementMsMax;
    let stop = (): void => undefined;
    const late = new Promise<never>((_, reject) => {
      stop = this.#engine.platform.startTimer(ms, () => reject(new Error(`${who} did not answer in ${ms} ms`)));
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      stop();
    }
  }
}

const answerOf = (said: unknown): Answer =>
  typeof said === 'boolean' ? { contradicts: said } : { fault: `the checker answered ${shownValue(said)}` };
const faultOf = (error: unknown): Answer => ({ fault: `the checker failed: ${messageOf(error)}` });
