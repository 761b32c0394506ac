/** The AI SDK over HTTP: its OpenAI provider on the scripted model server, chat and responses, whole and streamed. */
import { createOpenAI } from '@ai-sdk/openai';
import { stepCountIs } from 'ai';
import { expect, test } from 'vitest';
import { recordAiSdk, toPrompt } from '../../src/ai-sdk.ts';
import { valueAt } from '../../src/core/json.ts';
import { conversation } from '../../src/index.ts';
import { openModelServer } from '../../src/testing.ts';
import { dataOf, eventsOf, openSession, tableOf, weatherTools } from './ai-sdk-world.ts';

const loop = { stopWhen: stepCountIs(5) };
const weatherScript = [
  { when: { answered: 'weather' }, reply: { text: ['It is ', '7 degrees.'] } },
  { when: { text: /weather/ }, reply: { toolCalls: [{ name: 'weather', input: { city: 'Oslo' } }] } },
];

test.each([
  ['chat', 'generateText'],
  ['chat', 'streamText'],
  ['responses', 'generateText'],
  ['responses', 'streamText'],
] as const)('OpenAI %s through %s: what is recorded can be sent again', async (protocol, verb) => {
  await using server = await openModelServer(weatherScript);
  await using world = await openSession();
  await using recorder = await world.session.record();
  const openai = createOpenAI({ baseURL: server.url, apiKey: 'sk-secret-123' });
  const model = protocol === 'chat' ? openai.chat('gpt-test') : openai.responses('gpt-test');
  const ai = recordAiSdk(recorder);
  const call = { model, system: 'Be brief.', prompt: 'The weather in Oslo?', tools: weatherTools(), ...loop };
  const text = verb === 'generateText' ? (await ai.generateText(call)).text : await ai.streamText(call).text;
  expect(text).toBe('It is 7 degrees.');
  await recorder.flush();
  const events = await eventsOf(world.session);
  expect(tableOf(events).filter((row) => row.startsWith('call.started'))).toEqual([
    'call.started model gpt-test cause 1 turn 1',
    'call.started tool weather cause 3 turn 1',
    'call.started model gpt-test cause 1 turn 2',
  ]);
  const [first, last] = dataOf(events, 'call.ended', 'model');
  expect(first).toMatchObject({
    outcome: 'ok',
    finishReason: 'tool-calls',
    usage: { inputTokens: expect.any(Number) },
  });
  expect(last?.['provider']).toMatchObject({ name: `openai.${protocol}`, id: expect.any(String) });
  expect(JSON.stringify(events)).not.toContain('sk-secret-123');
  const seen = await world.session.fold(conversation);
  expect(seen.messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);

  const prompt = toPrompt(seen);
  const again = { role: 'user' as const, content: 'The weather in Rome?' };
  await ai.generateText({ model, ...prompt, messages: [...prompt.messages, again], tools: weatherTools() });
  const { request } = server.requests.at(-1) ?? {};
  expect(request?.messages.map(({ role }) => role).filter((role) => role !== 'system')).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ]);
});

test.each(['chat', 'responses'] as const)(
  'OpenAI %s: a busy server is asked again, and every attempt is there',
  async (protocol) => {
    await using server = await openModelServer([
      {
        reply: [
          { error: { status: 429, retryAfter: 0.01, body: { error: { message: 'slow down' } } } },
          { text: 'Hello.' },
        ],
      },
    ]);
    await using world = await openSession();
    await using recorder = await world.session.record();
    const openai = createOpenAI({ baseURL: server.url, apiKey: 'none' });
    const model = protocol === 'chat' ? openai.chat('gpt-test') : openai.responses('gpt-test');
    expect((await recordAiSdk(recorder).generateText({ model, prompt: 'Hello?' })).text).toBe('Hello.');
    const ends = dataOf(await eventsOf(world.session), 'call.ended');
    expect(ends.map((end) => [end['outcome'], end['attempts'], valueAt(end, ['error', 'status'])])).toEqual([
      ['error', 1, 429],
      ['ok', 2, undefined],
    ]);
  },
);

test('a connection that breaks in the middle of a stream is an error with what had arrived', async () => {
  await using server = await openModelServer([{ reply: { text: ['Once ', 'upon ', 'a time.'], cutAfter: 3 } }]);
  await using world = await openSession();
  await using recorder = await world.session.record();
  const model = createOpenAI({ baseURL: server.url, apiKey: 'none' }).chat('gpt-test');
  const result = recordAiSdk(recorder).streamText({ model, prompt: 'Tell.', onError: () => undefined });
  await result.consumeStream();
  await recorder.flush();
  const events = await eventsOf(world.session);
  const [end] = dataOf(events, 'call.ended');
  expect(end).toMatchObject({
    outcome: 'error',
    message: { role: 'assistant', content: expect.stringMatching(/^Once/) },
  });
  expect(dataOf(events, 'run.ended')[0]).toMatchObject({ outcome: 'error' });
});
