/** OpenAI Agents, recorded: the real framework, with models that say what they are told to. No network. */
import { Agent, MemorySession, Runner, setTracingDisabled, tool } from '@openai/agents';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { conversation } from '../../src/index.ts';
import { recordAgent, recordModels, recordSession } from '../../src/openai-agents.ts';
import { asks, dataOf, recorded, SayingModel, says } from './openai-agents-world.ts';

beforeAll(() => setTracingDisabled(true));

const weather = () =>
  tool({
    name: 'weather',
    description: 'The weather of a city',
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => ({ city, celsius: 7 }),
  });

const runnerOf = (model: SayingModel, recorder: Parameters<typeof recordModels>[1], tracingDisabled = true) =>
  new Runner({ modelProvider: recordModels({ getModel: () => model }, recorder), tracingDisabled });

describe('a tool loop', () => {
  test('is recorded as what was sent, what was said and what the tool gave', async () => {
    const model = new SayingModel([[asks('c1', 'weather', { city: 'Oslo' })], says('It is 7 degrees.')]);
    const agent = new Agent({ name: 'forecaster', instructions: 'Be brief.', tools: [weather()], model: 'small-1' });
    const { events, session } = await recorded(async (recorder) => {
      const result = await recorder.run({ title: 'weather' }, () =>
        runnerOf(model, recorder).run(recordAgent(agent, recorder), 'How is Oslo?'),
      );
      expect(result.finalOutput).toBe('It is 7 degrees.');
    });
    expect(events.map(({ type }) => type)).toEqual([
      'run.started',
      'call.started',
      'call.ended',
      'call.started',
      'call.ended',
      'call.started',
      'call.ended',
      'run.ended',
    ]);
    const [first, second] = dataOf(events, 'call.started', 'model');
    expect(first).toMatchObject({
      name: 'small-1',
      request: { system: 'Be brief.', messages: [{ role: 'user', content: 'How is Oslo?' }] },
    });
    expect(first?.['request']).toHaveProperty('tools.0.name', 'weather');
    expect(dataOf(events, 'call.ended', 'model')[0]).toMatchObject({
      outcome: 'ok',
      message: { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', input: { city: 'Oslo' } }] },
      usage: { inputTokens: 10, outputTokens: 4, totalTokens: 14 },
      provider: { responseId: 'resp_1' },
    });
    expect(dataOf(events, 'call.started', 'tool')[0]).toMatchObject({ call: 'c1', input: { city: 'Oslo' } });
    expect(dataOf(events, 'call.ended', 'tool')[0]).toMatchObject({ output: { celsius: 7, city: 'Oslo' } });
    expect(second?.['request']).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant' },
        { role: 'tool', content: [{ toolCallId: 'c1', output: { celsius: 7, city: 'Oslo' } }] },
      ],
    });
    expect(new Set(events.slice(1, -1).map(({ agent: name }) => name))).toEqual(new Set(['forecaster']));
    const seen = await session.stateAt('main', conversation);
    expect(seen.messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
    // The result in the second list is the answer of the tool itself, and keeps its seq.
    expect(seen.messages[2]?.seq).toBe(5);
    expect(seen.openCalls).toEqual([]);
  });
});
