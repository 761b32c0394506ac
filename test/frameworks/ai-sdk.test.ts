/** The AI SDK, recorded: the real `ai` package on scripted models. */
import { generateText, Output, stepCountIs, ToolLoopAgent } from 'ai';
import { MockLanguageModelV3, MockProviderV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fromModelMessages, recordAgent, recordAiSdk, recordModel, recordTools, toPrompt } from '../../src/ai-sdk.ts';
import { valueAt } from '../../src/core/json.ts';
import { conversation } from '../../src/index.ts';
import { asks, dataOf, eventsOf, openSession, said, scripted, tableOf, weatherTools } from './ai-sdk-world.ts';

const loop = { stopWhen: stepCountIs(5) };
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const toolStory = () => scripted([said(asks('weather', { city: 'Oslo' })), said('It is 7 degrees.')]);

test('generateText with a tool is one run: the user message once, two model calls, and the tool between them', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const ai = recordAiSdk(recorder, { agent: 'guide', title: 'Weather' });
  const { text } = await ai.generateText({
    model: toolStory(),
    system: 'Be brief.',
    prompt: 'Weather in Oslo?',
    temperature: 0,
    tools: weatherTools(),
    ...loop,
  });
  expect(text).toBe('It is 7 degrees.');
  const events = await eventsOf(world.session);
  expect(tableOf(events)).toEqual([
    'run.started cause 0 turn 0',
    'message.added cause 1 turn 1',
    'call.started model mock-1 cause 1 turn 1',
    'call.ended model mock-1 ok cause 3 turn 1',
    'call.started tool weather cause 3 turn 1',
    'call.ended tool weather ok cause 5 turn 1',
    'call.started model mock-1 cause 1 turn 2',
    'call.ended model mock-1 ok cause 7 turn 2',
    'run.ended ok cause 1 turn 2',
  ]);
  expect(events.every(({ agent }) => agent === 'guide')).toBe(true);
  expect(dataOf(events, 'run.ended')[0]).toMatchObject({ result: 'It is 7 degrees.' });
});

test('a model call holds what the model was really sent and really said', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const answer = {
    ...said({ type: 'reasoning', text: 'Hm.', providerMetadata: { mock: { signature: 's' } } }, 'Yes.', {
      type: 'source',
      sourceType: 'url',
      id: 's1',
      url: 'https://example.com',
    }),
    providerMetadata: { mock: { tier: 'gold' } },
    response: {
      id: 'resp-1',
      modelId: 'mock-1-0915',
      timestamp: new Date(0),
      headers: { 'x-request-id': 'r1', 'set-cookie': 'session=1', 'x-ratelimit-remaining-tokens': '99' },
    },
    warnings: [{ type: 'other' as const, message: 'careful' }],
  };
  await generateText({
    model: recordModel(scripted([answer]), recorder, { agent: 'guide' }),
    system: 'Be brief.',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', data: new Uint8Array([1, 2, 3]), mediaType: 'image/png' },
        ],
      },
    ],
    temperature: 0.5,
    seed: 7,
    tools: weatherTools(),
    toolChoice: 'none',
    headers: { authorization: 'Bearer abc', 'x-feature': 'on' },
    providerOptions: { mock: { effort: 'low' } },
  });
  await recorder.flush();
  const events = await eventsOf(world.session);
  expect(tableOf(events)).toEqual([
    'call.started model mock-1 cause 0 turn 1',
    'call.ended model mock-1 ok cause 1 turn 1',
  ]);
  expect(dataOf(events, 'call.started')[0]?.['request']).toEqual({
    system: 'Be brief.',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', data: 'AQID', mediaType: 'image/png' },
        ],
      },
    ],
    tools: [expect.objectContaining({ type: 'function', name: 'weather', description: 'The weather in a city.' })],
    settings: {
      temperature: 0.5,
      seed: 7,
      toolChoice: { type: 'none' },
      headers: { 'x-feature': 'on' },
      providerOptions: { mock: { effort: 'low' } },
    },
  });
  expect(dataOf(events, 'call.ended')[0]).toMatchObject({
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', providerOptions: { mock: { signature: 's' } } },
        { type: 'text', text: 'Yes.' },
      ],
    },
    finishReason: 'stop',
    usage: {
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 15,
      cachedInputTokens: 4,
      cacheWriteTokens: 0,
      reasoningTokens: 2,
    },
    attempts: 1,
    provider: {
      name: 'mock',
      id: 'resp-1',
      model: 'mock-1-0915',
      time: '1970-01-01T00:00:00.000Z',
      headers: { 'x-request-id': 'r1', 'x-ratelimit-remaining-tokens': '99' },
      metadata: { mock: { tier: 'gold' } },
      warnings: [{ type: 'other', message: 'careful' }],
      content: expect.arrayContaining([expect.objectContaining({ type: 'source', url: 'https://example.com' })]),
    },
  });
  expect(JSON.stringify(events)).not.toMatch(/Bearer|session=1/);
});

test('the conversation at the end is the last request, its answer and tool results, and generateText takes it', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const ai = recordAiSdk(recorder);
  const first = await ai.generateText({
    model: toolStory(),
    system: 'Be brief.',
    prompt: 'Oslo?',
    tools: weatherTools(),
    ...loop,
  });
  const seen = await world.session.fold(conversation);
  expect(seen.messages.map(({ seq, message }) => [seq, message?.['role']])).toEqual([
    [2, 'user'],
    [4, 'assistant'],
    [6, 'tool'],
    [8, 'assistant'],
  ]);
  const prompt = toPrompt(seen);
  expect(prompt.instructions).toBe('Be brief.');
  expect(fromModelMessages(prompt.messages.slice(1))).toEqual(fromModelMessages(first.responseMessages));
  const model = scripted([said('And 3 in Bergen.')]);
  await generateText({ model, ...prompt, messages: [...prompt.messages, { role: 'user', content: 'Bergen?' }] });
  expect(model.doGenerateCalls[0]?.prompt.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ]);
});

test('between a tool and the next model call, the conversation holds what the model will be sent', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const tools = weatherTools();
  const failing = { weather: { ...tools.weather, execute: () => Promise.reject(new Error('no signal')) } };
  for (const each of [tools, failing]) {
    const model = toolStory();
    await recordAiSdk(recorder).generateText({ model, prompt: 'Oslo?', tools: each, ...loop });
    const events = await eventsOf(world.session);
    const end = events.findLast(({ type, data }) => type === 'call.ended' && data['kind'] === 'tool');
    const seen = await world.session.at(`main@${end?.seq}`).fold(conversation);
    expect(toPrompt(seen).messages.at(-1)).toEqual(json(model.doGenerateCalls[1]?.prompt.at(-1)));
    const later = await world.session.fold(conversation);
    expect(later.messages.find(({ message }) => message?.['role'] === 'tool')?.seq).toBe(end?.seq);
  }
});

test('a ToolLoopAgent is recorded under its id, with the models that prepareStep chooses', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const other = scripted([said('Cold.')], 'mock-2');
  const agent = recordAgent(
    new ToolLoopAgent({
      id: 'support',
      model: toolStory(),
      instructions: 'Be brief.',
      tools: weatherTools(),
      prepareStep: ({ stepNumber }) => (stepNumber === 1 ? { model: other } : {}),
    }),
    recorder,
  );
  expect((await agent.generate({ prompt: 'Oslo?' })).text).toBe('Cold.');
  expect((await agent.generate({ prompt: 'And now?' })).text).toBe('It is 7 degrees.');
  const events = await eventsOf(world.session);
  expect(dataOf(events, 'call.started').map(({ name }) => name)).toEqual(['mock-1', 'weather', 'mock-2', 'mock-1']);
  expect(events.every((event) => event.agent === 'support')).toBe(true);
  expect(dataOf(events, 'message.added').map((data) => valueAt(data, ['message', 'content']))).toEqual([
    'Oslo?',
    'And now?',
  ]);
  expect(agent).toBeInstanceOf(ToolLoopAgent);
});

test('structured output is recorded with its format, and comes back as the AI SDK gives it', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const { output } = await recordAiSdk(recorder).generateText({
    model: scripted([said('{"degrees":7}')]),
    prompt: 'Oslo?',
    output: Output.object({ schema: z.object({ degrees: z.number() }) }),
  });
  expect(output.degrees).toBe(7);
  const [request] = dataOf(await eventsOf(world.session), 'call.started');
  expect(valueAt(request, ['request', 'settings', 'responseFormat'])).toMatchObject({
    type: 'json',
    schema: { type: 'object' },
  });
});

test('tools asked for at once are recorded side by side, each caused by the model call', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const both = said(asks('weather', { city: 'Oslo' }, 'a'), asks('weather', { city: 'Rome' }, 'b'));
  const model = scripted([both, said('Cold and warm.')]);
  await recordAiSdk(recorder).generateText({ model, prompt: 'Both?', tools: weatherTools(), ...loop });
  const calls = (await eventsOf(world.session)).filter(({ data }) => data['kind'] === 'tool');
  expect(
    calls.filter(({ type }) => type === 'call.started').map(({ data, causeSeq }) => [data['call'], causeSeq]),
  ).toEqual([
    ['a', 3],
    ['b', 3],
  ]);
  expect(calls.filter(({ type }) => type === 'call.ended')).toHaveLength(2);
});

test('a generateText inside a tool is a run of its own, caused by the tool, and leaves the conversation alone', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const ai = recordAiSdk(recorder);
  const { weather } = weatherTools();
  const execute = async () => (await ai.generateText({ model: scripted([said('7')], 'inner'), prompt: 'Guess.' })).text;
  const model = toolStory();
  await ai.generateText({ model, prompt: 'Oslo?', tools: { weather: { ...weather, execute } }, ...loop });
  const events = await eventsOf(world.session);
  expect(tableOf(events).slice(4, 9)).toEqual([
    'call.started tool weather cause 3 turn 1',
    'run.started cause 5 turn 1',
    'message.added cause 6 turn 2',
    'call.started model inner cause 6 turn 2',
    'call.ended model inner ok cause 8 turn 2',
  ]);
  const { messages } = await world.session.fold(conversation);
  expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
});

test('what is recorded twice over is recorded once', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const model = recordModel(recordModel(toolStory(), recorder), recorder);
  const tools = recordTools(recordTools(weatherTools(), recorder), recorder);
  await recordAiSdk(recorder).generateText({ model, tools, prompt: 'Oslo?', ...loop });
  expect(dataOf(await eventsOf(world.session), 'call.started').map(({ name }) => name)).toEqual([
    'mock-1',
    'weather',
    'mock-1',
  ]);
});

test('streamText records like generateText, also where its reader is outside of the run', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const ai = recordAiSdk(recorder);
  const result = ai.streamText({ model: toolStory(), prompt: 'Oslo?', tools: weatherTools(), ...loop });
  let text = '';
  for await (const delta of result.textStream) text += delta;
  expect(text).toBe('It is 7 degrees.');
  await recorder.flush();
  const events = await eventsOf(world.session);
  expect(tableOf(events).filter((row) => !row.startsWith('call.ended'))).toEqual([
    'run.started cause 0 turn 0',
    'message.added cause 1 turn 1',
    'call.started model mock-1 cause 1 turn 1',
    'call.started tool weather cause 3 turn 1',
    'call.started model mock-1 cause 1 turn 2',
    'run.ended ok cause 1 turn 2',
  ]);
  const [first, last] = dataOf(events, 'call.ended', 'model');
  expect(first).toMatchObject({ outcome: 'ok', finishReason: 'tool-calls', usage: { totalTokens: 15 } });
  expect(last).toMatchObject({
    message: { role: 'assistant', content: 'It is 7 degrees.' },
    firstTokenMs: expect.any(Number),
  });
  expect(last?.['provider']).toMatchObject({ headers: { 'x-request-id': 'r1' } });
  expect(dataOf(events, 'run.ended')[0]).toMatchObject({ outcome: 'ok', result: 'It is 7 degrees.' });
});

test('a tool that someone had to approve is executed by the run that was told so', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const ai = recordAiSdk(recorder);
  const { weather } = weatherTools();
  const call = { model: toolStory(), tools: { weather: { ...weather, needsApproval: true } }, ...loop };
  const question = { role: 'user' as const, content: 'Oslo?' };
  const first = await ai.generateText({ ...call, messages: [question] });
  const [request] = first.content.filter((part) => part.type === 'tool-approval-request');
  const approval = { type: 'tool-approval-response' as const, approvalId: request?.approvalId ?? '', approved: true };
  const messages = [question, ...first.responseMessages, { role: 'tool' as const, content: [approval] }];
  expect((await ai.generateText({ ...call, messages })).text).toBe('It is 7 degrees.');
  const events = await eventsOf(world.session);
  expect(tableOf(events).map((row) => row.replace(/ turn.*/, ''))).toEqual([
    'run.started cause 0',
    'message.added cause 1',
    'call.started model mock-1 cause 1',
    'call.ended model mock-1 ok cause 3',
    'call.started person approval cause 1',
    'run.ended waiting cause 1',
    'run.started cause 0',
    'call.ended person approval ok cause 7',
    'call.started tool weather cause 7',
    'call.ended tool weather ok cause 9',
    'call.started model mock-1 cause 7',
    'call.ended model mock-1 ok cause 11',
    'run.ended ok cause 7',
  ]);
  expect(events[8]?.run).toBe(events[6]?.run);
});

test('models of an older specification, and models that are only a name, are recorded like others', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const { content, finishReason, usage } = said('Old.');
  const old = new MockLanguageModelV3({
    modelId: 'old-1',
    doGenerate: async () => ({ content, finishReason, usage, warnings: [] }) as never,
  });
  expect((await generateText({ model: recordModel(old, recorder), prompt: '?' })).text).toBe('Old.');
  const names = globalThis as { AI_SDK_DEFAULT_PROVIDER?: unknown };
  names.AI_SDK_DEFAULT_PROVIDER = new MockProviderV4({
    languageModels: { named: scripted([said('Named.')], 'named-1') },
  });
  try {
    expect((await recordAiSdk(recorder).generateText({ model: 'named', prompt: '?' })).text).toBe('Named.');
  } finally {
    delete names.AI_SDK_DEFAULT_PROVIDER;
  }
  await recorder.flush();
  const ends = dataOf(await eventsOf(world.session), 'call.ended');
  expect(ends.map((end) => [end['name'], valueAt(end, ['usage', 'inputTokens'])])).toEqual([
    ['old-1', 10],
    ['named-1', 10],
  ]);
});
