/** OpenAI Agents over HTTP: the framework's own OpenAI provider against the scripted model server. */
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { conversation, type Recorder } from '../../src/index.ts';
import { itemsFromMessages, recordAgent, recordModels } from '../../src/openai-agents.ts';
import { type ModelScript, type ModelServer, openModelServer } from '../../src/testing.ts';
import { dataOf, recorded } from './openai-agents-world.ts';

beforeAll(() => setTracingDisabled(true));

const weather = tool({
  name: 'weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  // In the order of the record, so that what is sent again is the same to the letter.
  execute: async ({ city }) => ({ celsius: 7, city }),
});
const agent = new Agent({ name: 'forecaster', instructions: 'Be brief.', tools: [weather], model: 'small-1' });

const script: ModelScript = [
  {
    when: { answered: 'weather' },
    reply: { text: ['It is ', '7 degrees.'], usage: { inputTokens: 30, outputTokens: 5 } },
  },
  {
    when: { text: /Oslo/ },
    reply: { reasoning: 'They want the weather.', toolCalls: [{ name: 'weather', id: 'c1', input: { city: 'Oslo' } }] },
  },
  { when: { text: /cut/ }, reply: { text: ['I was ', 'about ', 'to say'], cutAfter: 2 } },
  { when: { text: /full/ }, reply: { error: { status: 503, message: 'Overloaded' } } },
];

const runnerOf = (server: ModelServer, recorder: Recorder, useResponses: boolean) =>
  new Runner({
    modelProvider: recordModels(
      new OpenAIProvider({
        openAIClient: new OpenAI({ apiKey: 'none', baseURL: server.url, maxRetries: 0 }),
        useResponses,
      }),
      recorder,
    ),
  });

describe.each([
  ['responses', true],
  ['chat completions', false],
] as const)('over %s', (_protocol, useResponses) => {
  test.each([false, true])('a tool loop is recorded as it went (streamed: %s)', async (stream) => {
    await using server = await openModelServer(script);
    const { events, session } = await recorded(async (recorder) => {
      const runner = runnerOf(server, recorder, useResponses);
      const own = recordAgent(agent, recorder);
      if (!stream) {
        expect((await runner.run(own, 'How is Oslo?')).finalOutput).toBe('It is 7 degrees.');
        return;
      }
      const result = await runner.run(own, 'How is Oslo?', { stream: true });
      const deltas: string[] = [];
      for await (const text of result.toTextStream()) deltas.push(text);
      await result.completed;
      expect(deltas.join('')).toBe('It is 7 degrees.');
      expect(deltas.length).toBeGreaterThan(1);
    });
    const ended = dataOf(events, 'call.ended', 'model');
    expect(ended).toMatchObject([
      { outcome: 'ok', message: { content: expect.arrayContaining([expect.objectContaining({ toolCallId: 'c1' })]) } },
      {
        outcome: 'ok',
        message: { content: [{ type: 'text', text: 'It is 7 degrees.' }] },
        usage: { inputTokens: 30, outputTokens: 5, totalTokens: 35 },
        provider: { responseId: expect.any(String), model: 'small-1' },
      },
    ]);
    if (stream) for (const end of ended) expect(end['firstTokenMs']).toBeTypeOf('number');
    expect(ended.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    // The record holds what went over the wire: the same history, sent again by us, is the same request.
    const { messages } = await session.fold(conversation);
    expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
    await recorded(async (recorder) => {
      const history = messages.slice(0, 3).map(({ message }) => message) as never;
      const again = await runnerOf(server, recorder, useResponses).run(agent, itemsFromMessages(history));
      expect(again.finalOutput).toBe('It is 7 degrees.');
    });
    const [, second, third] = server.requests;
    expect(third?.request?.messages).toEqual(second?.request?.messages);
    expect(third?.request?.body['input'] ?? third?.request?.body['messages']).toEqual(
      second?.request?.body['input'] ?? second?.request?.body['messages'],
    );
  });

  test('a stream that is cut is recorded with what had been said', async () => {
    await using server = await openModelServer(script);
    const { events } = await recorded(async (recorder) => {
      const runner = runnerOf(server, recorder, useResponses);
      const result = await runner.run(recordAgent(agent, recorder), 'Be cut', { stream: true });
      await expect(result.completed).rejects.toThrow(/terminated|connection|aborted|hang up|closed|network/i);
    });
    expect(dataOf(events, 'call.ended', 'model').at(-1)).toMatchObject({
      outcome: expect.stringMatching(/^(error|interrupted)$/),
      message: { content: 'I was about ' },
    });
  });

  test('an error of the provider is recorded with its status', async () => {
    await using server = await openModelServer(script);
    const { events } = await recorded(async (recorder) => {
      const run = runnerOf(server, recorder, useResponses).run(recordAgent(agent, recorder), 'You are full');
      await expect(run).rejects.toThrow('Overloaded');
    });
    expect(dataOf(events, 'call.ended', 'model').at(-1)).toMatchObject({ outcome: 'error', error: { status: 503 } });
  });
});
