import { RepriseError } from '../../core/error.ts';
import type { Config } from '../../core/recording/config.ts';
import type { WaitingCall } from '../../core/recording/person-calls.ts';
import type { EffectAnswer, EffectQuestion } from '../../engine/resuming/effect-guard.ts';
import type { Decisions } from '../../engine/resuming/person-decisions.ts';
import { decisionsFor, joinedDecisions } from '../../reading/looks/question-decisions.ts';
import type { QuestionAnswer, RunQuestion } from '../../reading/looks/run-orders.ts';
import type { RunMasking } from './run-masking.ts';

type Simulations = NonNullable<Config['simulate']>;

interface Asked {
  /** The question and its answer as they are shown: masked. */
  shown: RunQuestion;
  /** The answer as it was given. */
  said: QuestionAnswer | null;
  /** Passes an answer about an effect on to the run that waits for it. */
  readonly resolve: (answer: EffectAnswer) => void;
}

/** The questions of one run. Each is answered once, by the answer that comes first. */
export class RunQuestions {
  readonly #asked: Asked[] = [];
  readonly #simulations: Simulations;
  readonly #now: () => string;
  readonly #onChange: () => void;
  #masking: Pick<RunMasking, 'question' | 'answer'> | undefined;
  #isClosed = false;

  constructor(simulations: Simulations, now: () => string, onChange: () => void) {
    this.#simulations = simulations;
    this.#now = now;
    this.#onChange = onChange;
  }

  /** Masks from here on what is shown. */
  maskBy(masking: Pick<RunMasking, 'question' | 'answer'>): void {
    this.#masking = masking;
  }

  /** The questions, last first. */
  get list(): readonly RunQuestion[] {
    return this.#asked.map(({ shown }) => shown).reverse();
  }

  /** Asks whether a call may be made, and waits for the answer. */
  ask(question: EffectQuestion): Promise<EffectAnswer> {
    if (this.#isClosed) return Promise.resolve('refuse');
    const canSimulate = Object.hasOwn(this.#simulations, question.name);
    return new Promise((resolve) => {
      this.#add({ kind: 'effect', question: this.#masking?.question(question) ?? question, canSimulate }, resolve);
    });
  }

  /** Adds the questions that a run which has ended waits for. */
  wait(calls: readonly WaitingCall[]): void {
    for (const question of calls) this.#add({ kind: 'person', question }, () => undefined);
  }

  #add(
    about:
      | Pick<Extract<RunQuestion, { kind: 'effect' }>, 'kind' | 'question' | 'canSimulate'>
      | Pick<Extract<RunQuestion, { kind: 'person' }>, 'kind' | 'question'>,
    resolve: Asked['resolve'],
  ): void {
    const shown: RunQuestion = { id: `q${this.#asked.length + 1}`, askedAt: this.#now(), answer: null, ...about };
    this.#asked.push({ shown, said: null, resolve });
    this.#onChange();
  }

  /**
   * Answers a question. Returns undefined if it was answered before; else what to do next: nothing, or to continue with
   * what people decided. A run that waits for several answers continues with the last of them.
   */
  answer(id: string, answer: QuestionAnswer): { readonly decisions: Decisions | undefined } | undefined {
    const asked = this.#asked.find(({ shown }) => shown.id === id);
    if (asked === undefined)
      throw new RepriseError(
        'question.not-found',
        `Cannot answer question ${JSON.stringify(id)}: the run never asked it`,
        {
          hint: 'List the runs to see the questions that wait.',
        },
      );
    if (asked.said !== null) return undefined;
    if (asked.shown.kind === 'person') {
      decisionsFor(asked.shown.question, answer);
      this.#note(asked, answer);
      return { decisions: this.#decisions() };
    }
    const said = this.#effectAnswer(asked.shown.question, answer);
    this.#note(asked, answer);
    asked.resolve(said);
    return { decisions: undefined };
  }

  /** Lets people answer again, because the run could not continue with what they said. */
  takeBack(): void {
    for (const asked of this.#asked) {
      if (asked.shown.kind !== 'person') continue;
      asked.shown = { ...asked.shown, answer: null };
      asked.said = null;
    }
    this.#onChange();
  }

  /** Returns what people decided; undefined while one of them has not. */
  #decisions(): Decisions | undefined {
    const made: Decisions[] = [];
    for (const { shown, said } of this.#asked) {
      if (shown.kind !== 'person') continue;
      if (said === null) return undefined;
      made.push(decisionsFor(shown.question, said));
    }
    return joinedDecisions(made);
  }

  #note(asked: Asked, answer: QuestionAnswer): void {
    asked.said = answer;
    asked.shown = { ...asked.shown, answer: this.#masking?.answer(answer) ?? answer };
    this.#onChange();
  }

  #effectAnswer({ name, outcome }: EffectQuestion, answer: QuestionAnswer): EffectAnswer {
    switch (answer.kind) {
      case 'effect':
        if (answer.answer === 'reuse' && outcome === undefined)
          refuse('nobody knows how the earlier call ended', 'Run it, simulate it, or refuse it.');
        return answer.answer;
      case 'simulate':
        return { simulate: answer.output === undefined ? this.#simulated(name) : answer.output };
      default:
        return refuse(
          `it is about a call, and ${answer.kind} is for a person's question`,
          'Run, reuse, simulate or refuse it.',
        );
    }
  }

  #simulated(name: string): Simulations[string] {
    if (Object.hasOwn(this.#simulations, name)) return this.#simulations[name] ?? null;
    return refuse(
      `the configuration does not simulate ${JSON.stringify(name)}`,
      'Send the answer of the call as "output".',
    );
  }

  /** Forgets what was asked and said; the ids stay, so that people can still answer. */
  forget(): void {
    for (const asked of this.#asked) asked.shown = forgotten(asked.shown);
  }

  /** Refuses what is still asked: the run has stopped. */
  close(): void {
    this.#isClosed = true;
    for (const asked of this.#asked) {
      if (asked.shown.kind !== 'effect' || asked.said !== null) continue;
      this.#note(asked, { kind: 'effect', answer: 'refuse' });
      asked.resolve('refuse');
    }
  }
}

/** Returns a question without its content and without that of its answer. */
function forgotten(shown: RunQuestion): RunQuestion {
  const answer = shown.answer === null ? null : withoutContent(shown.answer);
  const input = { erased: true };
  if (shown.kind === 'effect') return { ...shown, question: { ...shown.question, input }, answer };
  return { ...shown, question: { ...shown.question, input }, answer };
}

function withoutContent(answer: QuestionAnswer): QuestionAnswer {
  if (answer.kind === 'deny') return { kind: 'deny' };
  return answer.kind === 'answer' || answer.kind === 'simulate' ? { ...answer, output: { erased: true } } : answer;
}

function refuse(why: string, hint: string): never {
  throw new RepriseError('option.invalid', `Cannot answer the question: ${why}`, { hint });
}
