import type { ErrorJson } from '../../core/error.ts';
import { given, type JsonObject, type JsonValue, objectAt } from '../../core/json.ts';
import type { Masker } from '../../core/masking/masking.ts';
import type { EffectQuestion } from '../../engine/resuming/effect-guard.ts';
import type { ResumeAnswer } from '../../reading/answers/run-answers.ts';
import type { QuestionAnswer } from '../../reading/looks/run-orders.ts';

/**
 * Masks what an agent said to a run, and what people said to the agent, as the record of the run does: a server shows
 * both to everyone who may read. Questions that come from the record are masked already.
 */
export class RunMasking {
  readonly #mask: Masker;

  constructor(mask: Masker) {
    this.#mask = mask;
  }

  result(answer: ResumeAnswer): ResumeAnswer {
    const { text } = this.#data({ text: answer.text });
    return { ...answer, text: String(text) };
  }

  error({ code, message, hint, details }: ErrorJson): ErrorJson {
    const masked = this.#data({ message, details: details as JsonObject, ...given({ hint }) });
    const hinted = hint === undefined ? {} : { hint: String(masked['hint']) };
    return { code, message: String(masked['message']), details: objectAt(masked, 'details') ?? {}, ...hinted };
  }

  question(question: EffectQuestion): EffectQuestion {
    return question.input === undefined ? question : { ...question, input: this.#value(question.input) };
  }

  answer(answer: QuestionAnswer): QuestionAnswer {
    if ((answer.kind === 'answer' || answer.kind === 'simulate') && answer.output !== undefined)
      return { ...answer, output: this.#value(answer.output) };
    if (answer.kind === 'deny' && answer.reason !== undefined)
      return { ...answer, reason: String(this.#value(answer.reason)) };
    return answer;
  }

  #value(input: JsonValue): JsonValue {
    return this.#data({ input })['input'] ?? null;
  }

  #data(data: JsonObject): JsonObject {
    return this.#mask({ type: 'run.ended', data }).data as JsonObject;
  }
}
