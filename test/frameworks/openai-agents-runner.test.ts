/** Whole runs of OpenAI Agents, recorded by a runner. */
import { Agent, Runner, setTracingDisabled, tool } from '@openai/agents';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { conversation, type Recorder } from '../../src/index.ts';
import { openaiAgent, recordRunner } from '../../src/openai-agents.ts';
import { asks, dataOf, recorded, type Saying, SayingModel, says } from './openai-agents-world.ts';

beforeAll(() => setTracingDisabled(true));

const runnerOf = (sayings: readonly Saying[]) => {
  const model = new SayingModel(sayings);
  return new Runner({ modelProvider: { getModel: () => model } });
};
const desk = new Agent({ name: 'desk', model: 'saying-1' });

describe('a recorded runner', () => {
  test('records the run, what the user said, and what came of it', async () => {
    const { events, session } = await recorded(async (recorder) => {
      const result = await recordRunner(runnerOf([says('Hello.')]), recorder, { title: 'hello' }).run(desk, 'Hi');
      expect(result.finalOutput).toBe('Hello.');
    });
    expect(events.map(({ type }) => type)).toEqual([
      'run.started',
      'message.added',
      'call.started',
      'call.ended',
      'run.ended',
    ]);
    expect(new Set(events.map(({ agent }) => agent))).toEqual(new Set(['desk']));
    expect(events[0]?.data).toMatchObject({ title: 'hello' });
    expect(events.at(-1)?.data).toMatchObject({ outcome: 'ok', result: 'Hello.' });
    const { messages } = await session.fold(conversation);
    expect(messages.map(({ seq, message }) => [seq, message?.['role']])).toEqual([
      [2, 'user'],
      [4, 'assistant'],
    ]);
  });

  test('records only what is new of a history that is sent along', async () => {
    const { events } = await recorded(async (recorder) => {
      const runner = recordRunner(runnerOf([says('Hello.'), says('Seven.')]), recorder);
      const first = await runner.run(desk, 'Hi');
      await runner.run(desk, [...first.history, { role: 'user', content: 'Which order?' }]);
    });
    expect(dataOf(events, 'message.added').map(({ message }) => (message as { content: string }).content)).toEqual([
      'Hi',
      'Which order?',
    ]);
  });

  test('ends a streamed run when the stream has ended', async () => {
    const { events } = await recorded(async (recorder) => {
      const runner = recordRunner(runnerOf([says('Hello there.')]), recorder);
      const result = await runner.run(desk, 'Hi', { stream: true });
      let text = '';
      for await (const piece of result.toTextStream()) text += piece;
      await result.completed;
      expect(text).toBe('Hello there.');
    });
    expect(events.at(-1)).toMatchObject({ type: 'run.ended', data: { outcome: 'ok', result: 'Hello there.' } });
    expect(new Set(events.map(({ run }) => run)).size).toBe(1);
  });

  test('says that a run waits for a person, and records the tool when it goes on', async () => {
    let paid = 0;
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      parameters: z.object({ amount: z.number() }),
      needsApproval: async (_context, { amount }) => amount > 10,
      execute: async ({ amount }) => {
        paid += amount;
        return 'paid';
      },
    });
    const cashier = new Agent({ name: 'cashier', tools: [pay] });
    const run = async (recorder: Recorder) => {
      const runner = recordRunner(runnerOf([[asks('c1', 'pay', { amount: 50 })], says('Paid.')]), recorder);
      // The framework gives the waiting run back under the agent that ran it.
      const waiting = await runner.run(cashier, 'Pay 50');
      const [approval] = waiting.interruptions;
      expect(paid).toBe(0);
      if (approval !== undefined) waiting.state.approve(approval);
      const done = await runner.run(cashier, waiting.state);
      expect(done.finalOutput).toBe('Paid.');
    };
    const { events } = await recorded(run);
    expect(paid).toBe(50);
    expect(dataOf(events, 'run.ended').map(({ outcome }) => outcome)).toEqual(['waiting', 'ok']);
    expect(dataOf(events, 'call.ended', 'tool')).toMatchObject([{ call: 'c1', outcome: 'ok', output: 'paid' }]);
  });

  test('a whole session goes against another model, turn by turn', async () => {
    const { session } = await recorded(async (recorder) => {
      const runner = recordRunner(runnerOf([says('Hello.'), says('It is order 7.')]), recorder);
      const first = await runner.run(desk, 'Hi');
      await runner.run(desk, [...first.history, { role: 'user', content: 'Which order?' }]);
    });
    const branch = await session.fork('main@0', { name: 'cheaper', model: 'cheap-1' });
    const agent = openaiAgent(desk, { runner: runnerOf([says('Hello.'), says('No idea.')]) });
    const { comparison } = await branch.resume(agent, { userTurns: 'recorded' });
    expect(comparison.map(({ sameAnswer, resumed }) => [resumed.answer, sameAnswer])).toEqual([
      ['Hello.', true],
      ['No idea.', false],
    ]);
  });

  test('a tool that resumes a branch of another session records nothing of it', async () => {
    const nothing = { description: 'Works', parameters: z.object({}) };
    const look = tool({ ...nothing, name: 'look', execute: async () => 'seen' });
    const inner = desk.clone({ tools: [look] });
    const { session } = await recorded(async (recorder) => {
      await recordRunner(runnerOf([[asks('c1', 'look', {})], says('Looked.')]), recorder).run(inner, 'Look');
    });
    const branch = await session.fork('main@4', { name: 'again' });
    const resume = async () =>
      (await branch.resume(openaiAgent(inner, { runner: runnerOf([says('Again.')]) }), { effects: 'run' })).text;
    const boss = new Agent({ name: 'boss', tools: [tool({ ...nothing, name: 'resume', execute: resume })] });
    const { events } = await recorded(async (recorder) => {
      await recordRunner(runnerOf([[asks('c2', 'resume', {})], says('Done.')]), recorder).run(boss, 'Go');
    });
    expect(dataOf(events, 'call.started', 'tool').map(({ name }) => name)).toEqual(['resume']);
    const resumed = await Array.fromAsync(session.at('again').replay());
    expect(dataOf(resumed, 'call.ended', 'tool')).toMatchObject([{ name: 'look', output: 'seen' }]);
  });
});
