import type { StudioRun } from '../source/answers.ts';

/** Counts the unanswered questions. A run that waits for a person has ended, and its question is still open. */
export function openQuestions(runs: readonly Pick<StudioRun, 'questions'>[]): number {
  return runs.reduce((sum, { questions }) => sum + questions.filter(({ answer }) => answer === null).length, 0);
}
