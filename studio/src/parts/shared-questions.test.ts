import { expect, test } from 'vitest';
import { SharedQuestions } from './shared-questions.ts';

test('two who ask the same share one answer, and asking again later asks again', async () => {
  const questions = new SharedQuestions();
  let asked = 0;
  const ask = async () => ++asked;
  const { signal } = new AbortController();
  expect(await Promise.all([questions.ask('a', ask, signal), questions.ask('a', ask, signal)])).toEqual([1, 1]);
  expect(await questions.ask('a', ask, signal)).toBe(2);
});

test('a question is given up only when everybody left', async () => {
  const questions = new SharedQuestions();
  const signals: AbortSignal[] = [];
  const ask = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<number>((_, reject) => signal.addEventListener('abort', () => reject(new Error('left'))));
  };
  const [one, two] = [new AbortController(), new AbortController()];
  const answers = [questions.ask('a', ask, one.signal), questions.ask('a', ask, two.signal)];
  one.abort();
  expect(signals[0]?.aborted).toBe(false);
  two.abort();
  expect(signals[0]?.aborted).toBe(true);
  expect((await Promise.allSettled(answers)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
