import type { JsonValue } from '../../core/json.ts';
import type { Recorder } from '../../core/recorder.ts';

/** What a tool gave, and the text the framework makes of it for the model. */
export interface ToolAnswer {
  readonly text: string;
  readonly output: JsonValue;
  readonly isError: boolean;
}

/** Answers of tools by the id of their call. */
export type ToolAnswers = Map<string, ToolAnswer>;

// Beyond this, the oldest are forgotten: their results are then told as the text the model saw.
const answersMax = 10_000;

const memories = new WeakMap<Recorder, ToolAnswers>();

/**
 * What is known of the tools that ran under a recorder. The framework sends a model only text; with this, a result in a
 * list of messages is the same value as the recorded answer of the tool, and says whether it failed.
 */
export function toolAnswersOf(recorder: Recorder): ToolAnswers {
  const known = memories.get(recorder) ?? new Map<string, ToolAnswer>();
  memories.set(recorder, known);
  return known;
}

/** Remembers what a tool gave. */
export function rememberAnswer(answers: ToolAnswers, call: string, answer: ToolAnswer): void {
  answers.set(call, answer);
  const [oldest] = answers.keys();
  if (answers.size > answersMax && oldest !== undefined) answers.delete(oldest);
}
