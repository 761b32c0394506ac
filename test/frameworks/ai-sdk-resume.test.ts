/** Agents of the AI SDK that continue a branch. */
import { Output, stepCountIs, ToolLoopAgent, tool } from 'ai';
import { MockProviderV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type AiSdkRun, aiSdkAgent, recordAgent, recordModel, recordTools } from '../../src/ai-sdk.ts';
import { type JsonValue, valueAt } from '../../src/core/json.ts';
import type { Message } from '../../src/core/message/message.ts';
import type { ResumeContext } from '../../src/core/recording/agent.ts';
import type { Recorder } from '../../src/core/recording/recorder.ts';
import { asks, dataOf, eventsOf, openSession, said, scripted, tableOf, weatherTools } from './ai-sdk-world.ts';

const question: Message = { role: 'user', content: 'Oslo?' };
const asked: Message = {
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: 't0', toolName: 'weather', input: { city: 'Oslo' } }],
};
const answered: Message = {
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: 't0', toolName: 'weather', output: { degrees: 7 } }],
};

function contextOf(recorder: Recorder, more: Partial<ResumeContext> = {}): ResumeContext {
  return {
    session: recorder.session,
    branch: recorder.branch,
    recorder,
    run: 'r1',
    historyName: async () => recorder.branch,
    messages: [],
    prompt: question,
    floor: { agent: null, from: 0 },
    model: null,
    system: null,
    tools: null,
    settings: null,
    settingsOf: () => ({ model: null, system: null, tools: null, settings: null }),
    pending: [],
    answers: [],
    node: null,
    repairs: [],
    signal: new AbortController().signal,
    ...more,
  };
}

const story = (modelId?: string) => scripted([said(asks('weather', { city: 'Oslo' })), said('Cold.')], modelId);

test.each(['settings', 'a ToolLoopAgent'] as const)(
  'an agent made of %s goes on from a history and records on the branch',
  async (kind) => {
    await using world = await openSession();
    await using recorder = await world.session.record();
    const elsewhere = await world.reprise.createSession('elsewhere');
    await using other = await elsewhere.record();
    const model = story();
    const own = { model, tools: weatherTools(), stopWhen: stepCountIs(5) };
    // Recorded elsewhere before: what it does here belongs here alone.
    const agent =
      kind === 'settings'
        ? aiSdkAgent({ ...own, model: recordModel(model, other), system: 'Be brief.' }, { name: 'guide' })
        : aiSdkAgent(recordAgent(new ToolLoopAgent({ id: 'guide', ...own, instructions: 'Be brief.' }), other));
    expect([agent.framework, agent.name, agent.model]).toEqual(['ai-sdk', 'guide', 'mock-1']);
    const context = contextOf(recorder, {
      messages: [question, asked, answered],
      prompt: { role: 'user', content: 'Now?' },
    });
    const result = await recorder.run({ agent: 'guide' }, () => agent.resume(context, {}));
    expect(agent.textOf?.(result as never)).toBe('Cold.');
    expect(model.doGenerateCalls[0]?.prompt.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'user',
    ]);
    expect(tableOf(await eventsOf(world.session)).map((row) => row.replace(/ turn.*/, ''))).toEqual([
      'run.started cause 0',
      'call.started model mock-1 cause 1',
      'call.ended model mock-1 ok cause 2',
      'call.started tool weather cause 2',
      'call.ended tool weather ok cause 4',
      'call.started model mock-1 cause 1',
      'call.ended model mock-1 ok cause 6',
      'run.ended ok cause 1',
    ]);
    expect((await other.flush()).stored).toBe(0);
  },
);

test('what the branch says wins over the agent, and what the caller says over both', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const large = story('large');
  const agent = aiSdkAgent(
    {
      model: story('small'),
      tools: weatherTools(),
      system: 'Be long.',
      temperature: 1,
      seed: 1,
      stopWhen: stepCountIs(5),
    },
    { models: (id) => (id === 'large' ? large : story(id)), effects: { weather: 'pure' } },
  );
  const run = { seed: 3, output: Output.text(), maxRetries: 0 } satisfies AiSdkRun;
  await agent.resume(
    contextOf(recorder, {
      model: 'large',
      system: 'Be brief.',
      settings: { temperature: 0, seed: 2, toolChoice: { type: 'auto' }, responseFormat: { type: 'text' } },
      tools: [{ type: 'function', name: 'weather', description: 'Only Oslo.', inputSchema: { type: 'object' } }],
    }),
    run,
  );
  const [first] = large.doGenerateCalls;
  expect(first).toMatchObject({
    temperature: 0,
    seed: 3,
    toolChoice: { type: 'auto' },
    tools: [{ name: 'weather', description: 'Only Oslo.', inputSchema: { type: 'object' } }],
  });
  expect(first?.prompt[0]).toMatchObject({ role: 'system', content: 'Be brief.' });
  await recorder.flush();
  expect(dataOf(await eventsOf(world.session), 'call.started', 'tool')[0]).toMatchObject({ effect: 'pure' });
});

test('tools that the branch did not change are the own ones, and those it left out are not offered', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const model = scripted([said('Fine.')]);
  const extra = tool({ inputSchema: z.object({}), execute: async () => 1 });
  const agent = aiSdkAgent({ model, tools: { ...weatherTools(), extra } });
  await agent.resume(contextOf(recorder), {});
  await recorder.flush();
  const [request] = dataOf(await eventsOf(world.session), 'call.started');
  const tools = valueAt(request, ['request', 'tools', '0']) as JsonValue;
  await agent.resume(contextOf(recorder, { tools: [tools] }), {});
  expect(model.doGenerateCalls[1]?.tools).toEqual(model.doGenerateCalls[0]?.tools?.slice(0, 1));
});

test('a model is found in a provider registry, and one that nobody knows is an error that says what to do', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const large = scripted([said('Large.')], 'large');
  const models = new MockProviderV4({ languageModels: { large } });
  const context = contextOf(recorder, { model: 'large' });
  const own = { model: scripted([said('Small.')], 'small') };
  expect((await aiSdkAgent(own, { models }).resume(context, {})).text).toBe('Large.');
  expect((await aiSdkAgent(own).resume(contextOf(recorder, { model: 'small' }), {})).text).toBe('Small.');
  await expect(aiSdkAgent(own).resume(context, {})).rejects.toMatchObject({ code: 'model.not-found' });
});

test('a result that no model has seen yet is told to the model as its tool says', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const model = scripted([said('Cold.')]);
  const { weather } = weatherTools();
  const shaped = {
    ...weather,
    toModelOutput: ({ output }: { output: object }) => ({
      type: 'text' as const,
      value: JSON.stringify(output).length.toString(),
    }),
  };
  const agent = aiSdkAgent({ model, tools: { weather: shaped } });
  await agent.resume(contextOf(recorder, { messages: [question, asked, answered], prompt: undefined }), {});
  expect(model.doGenerateCalls[0]?.prompt.at(-1)).toMatchObject({
    content: [{ type: 'tool-result', output: { type: 'text', value: '13' } }],
  });
});

test('callTool executes one of the tools, unrecorded, and inputOf checks what it is handed', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const context = contextOf(recorder);
  const agent = aiSdkAgent(new ToolLoopAgent({ model: story(), tools: weatherTools() }));
  const call = (name: string, input: JsonValue) => ({ call: 't0', name, input });
  expect(await agent.callTool?.(call('weather', { city: 'Oslo' }), context, {})).toEqual({ city: 'Oslo', degrees: 7 });
  expect(agent.callTool?.(call('other', {}), context, {})).toBeUndefined();
  const execute = async (_: unknown, options: { readonly context: unknown }) => options.context;
  const told = aiSdkAgent({ model: story(), tools: { weather: { ...weatherTools().weather, execute } } });
  const run = { toolsContext: { weather: { unit: 'C' } }, toolApproval: { weather: 'user-approval' } } as const;
  expect(await told.callTool?.(call('weather', {}), context, run as never)).toEqual({ unit: 'C' });
  expect(await told.approvalOf?.(call('weather', {}), { ...context, run: run as never })).toBe('needed');
  const tools = recordTools(weatherTools(), recorder, { effects: { weather: 'irreversible' } });
  const declared = aiSdkAgent({ model: story(), tools }, { effects: { weather: 'pure' } });
  const classes = ['weather', 'other', 'toString'].map((name) => declared.effectOf?.(call(name, {})));
  expect(classes).toEqual(['irreversible', undefined, undefined]);
  const once = recordAgent(new ToolLoopAgent({ model: story(), tools: weatherTools() }), recorder, {
    effects: { weather: 'irreversible' },
  });
  expect(aiSdkAgent(recordAgent(once, recorder)).effectOf?.(call('weather', {}))).toBe('irreversible');
  expect(await agent.inputOf?.(call('weather', { city: 'Oslo', more: 1 }))).toEqual({ city: 'Oslo' });
  expect(await agent.inputOf?.(call('other', { any: 1 }))).toEqual({ any: 1 });
  await expect(agent.inputOf?.(call('weather', { city: 7 }))).rejects.toThrow('city');
  expect((await recorder.flush()).stored).toBe(0);
});

test('the signal of the branch stops the agent', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const stop = new AbortController();
  const { weather } = weatherTools();
  const execute = async () => stop.abort();
  const agent = aiSdkAgent({ model: story(), tools: { weather: { ...weather, execute } }, stopWhen: stepCountIs(5) });
  await expect(agent.resume(contextOf(recorder, { signal: stop.signal }), {})).rejects.toMatchObject({
    name: 'AbortError',
  });
});

test('something that is no agent of the AI SDK is refused', () => {
  const odd = { version: 'agent-v1', id: undefined, tools: {}, generate: async () => ({}), stream: async () => ({}) };
  expect(() => aiSdkAgent(odd as never)).toThrow(/not a ToolLoopAgent/);
});
