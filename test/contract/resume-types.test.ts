/** The compiler accepts and refuses agents and their options. */
import { expect, test } from 'vitest';
import { openReprise, type ResumableAgent, type ResumeContext } from '../../src/index.ts';

interface RunOptions {
  readonly maxRetries: number;
}

const agent: ResumableAgent<RunOptions, { readonly text: string }> = {
  framework: 'typed',
  resume: async (_context, run) => ({ text: `${run.maxRetries} retries` }),
};

test("options.run has the type of the agent, and the result is the framework's own", async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('demo');
  const { result } = await session.resume(agent, { prompt: 'Well?', run: { maxRetries: 2 } });
  const text: string = result.text;
  expect(text).toBe('2 retries');
  // @ts-expect-error: an agent's options are its own
  await session.resume(agent, { prompt: 'Well?', run: { maxRetries: 'two' } });
  // @ts-expect-error: nor may there be others
  await session.resume(agent, { prompt: 'Well?', run: { maxRetries: 2, depth: 1 } });
});

test('a function is an agent, with or without options', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('demo');
  const branch = session;
  const plain = await branch.resume(async ({ prompt }) => prompt?.role, { prompt: 'Well?' });
  expect(plain.result satisfies string | undefined).toBe('user');
  const typed = async (_context: ResumeContext, run: RunOptions): Promise<number> => run.maxRetries;
  const { result } = await branch.resume(typed, { prompt: 'Well?', run: { maxRetries: 3 } });
  expect(result satisfies number).toBe(3);
  // @ts-expect-error: the options of a function are its own, too
  await branch.resume(typed, { prompt: 'Well?', run: { maxRetries: 'three' } });
});
