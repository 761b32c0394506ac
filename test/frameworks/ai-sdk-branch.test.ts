/** A recorded agent of the AI SDK, forked anywhere and resumed on the branch. */
import { Output, stepCountIs, ToolLoopAgent, tool } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { aiSdkAgent, recordAiSdk } from '../../src/ai-sdk.ts';
import { conversation, type Session, waiting } from '../../src/index.ts';
import { asks, dataOf, eventsOf, openSession, said, scripted, tableOf, weatherTools } from './ai-sdk-world.ts';

const loop = { stopWhen: stepCountIs(5) };
const story = (answer: string, modelId?: string) =>
  scripted([said(asks('weather', { city: 'Oslo' }, 'b1')), said(answer)], modelId);

/** Records a tool loop: 2 the question, 3-4 and 7-8 the model, 5-6 the tool. */
async function recorded(session: Session): Promise<void> {
  await using recorder = await session.record();
  const model = scripted([said(asks('weather', { city: 'Oslo' })), said('It is 7 degrees.')]);
  await recordAiSdk(recorder).generateText({
    model,
    system: 'Be brief.',
    prompt: 'Oslo?',
    tools: weatherTools(),
    ...loop,
  });
}

test('an unedited fork sends the prompt once, and behaves as the original did', async () => {
  await using world = await openSession();
  await recorded(world.session);
  const model = scripted([said(asks('weather', { city: 'Oslo' })), said('It is 7 degrees.')]);
  const branch = await world.session.fork('main@2', { name: 'same' });
  const agent = aiSdkAgent({ model, system: 'Be brief.', tools: weatherTools(), ...loop });
  const { result, reused } = await branch.resume(agent);
  expect(result.text).toBe('It is 7 degrees.');
  expect(reused).toBe(1);
  expect(model.doGenerateCalls[0]?.prompt.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(await world.session.at('same').fingerprint()).toEqual(await world.session.fingerprint());
});

test('a fork with another tool result goes on from it, and records on the branch only', async () => {
  await using world = await openSession();
  await recorded(world.session);
  const before = tableOf(await eventsOf(world.session));
  const model = scripted([said('Freezing.')]);
  const branch = await world.session.fork('main@6', {
    name: 'colder',
    edits: [{ kind: 'toolResult', call: 't1', output: { degrees: -20 } }],
  });
  const agent = aiSdkAgent(new ToolLoopAgent({ model, tools: weatherTools() }));
  const { result, repairs } = await branch.resume(agent);
  expect([result.text, repairs]).toEqual(['Freezing.', []]);
  expect(model.doGenerateCalls[0]?.prompt.at(-1)).toMatchObject({ content: [{ output: { value: { degrees: -20 } } }] });
  expect(tableOf(await eventsOf(world.session))).toEqual(before);
  const { messages } = await world.session.at('colder').fold(conversation);
  expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
});

test('a fork between a tool call and its result executes the tool, under the policy', async () => {
  await using world = await openSession();
  await recorded(world.session);
  const executed: string[] = [];
  const branch = await world.session.fork('main@4', { name: 'pending' });
  const agent = aiSdkAgent({ model: scripted([said('Cold.')]), tools: weatherTools(executed) });
  const { result } = await branch.resume(agent, { effects: 'run' });
  expect([result.text, executed]).toEqual(['Cold.', ['Oslo']]);
  const calls = dataOf(await eventsOf(world.session, 'pending'), 'call.started', 'tool');
  expect(calls.at(-1)).toMatchObject({ call: 't1', name: 'weather', input: { city: 'Oslo' } });
});

test('a pending call that cannot be taken back is recognised, also where its schema fills in arguments', async () => {
  await using world = await openSession();
  const executed: unknown[] = [];
  const refund = tool({
    inputSchema: z.object({
      order: z.coerce.number(),
      currency: z.string().default('USD'),
      on: z.string().transform((day) => new Date(day)),
    }),
    execute: async (input) => void executed.push(input),
  });
  const effects = { refund: 'irreversible' } as const;
  await using recorder = await world.session.record();
  const model = scripted([said(asks('refund', { order: '7', on: '2026-11-15' })), said('Done.')]);
  await recordAiSdk(recorder, { effects }).generateText({ model, prompt: 'Refund 7.', tools: { refund }, ...loop });
  const branch = await world.session.fork('main@4', { name: 'again' });
  const agent = aiSdkAgent({ model: scripted([said('Done.')]), tools: { refund } }, { effects });
  await expect(branch.resume(agent)).rejects.toMatchObject({ code: 'effect.refused' });
  const taken = { order: 7, currency: 'USD', on: new Date('2026-11-15') };
  expect(executed).toEqual([taken]);
  const { result } = await branch.resume(agent, { effects: 'reuse' });
  expect([result.text, executed.length]).toEqual(['Done.', 1]);
  await (await world.session.fork('main@4', { name: 'anyway' })).resume(agent, { effects: 'run' });
  expect(executed).toEqual([taken, taken]);
});

test('a call that is refused ends the run, although the AI SDK would tell the model and go on', async () => {
  await using world = await openSession();
  const executed: unknown[] = [];
  const refund = tool({ inputSchema: z.object({}), execute: async (input) => void executed.push(input) });
  const effects = { refund: 'irreversible' } as const;
  await using recorder = await world.session.record();
  const model = () => scripted([said(asks('refund', {}, `r${Math.random()}`)), said('Sorry, it failed.')]);
  await recordAiSdk(recorder, { effects }).generateText({ model: model(), prompt: 'Go.', tools: { refund }, ...loop });
  const branch = await world.session.fork('main@2', { name: 'again' });
  const resumed = branch.resume(aiSdkAgent({ model: model(), tools: { refund }, ...loop }, { effects }));
  await expect(resumed).rejects.toMatchObject({ code: 'effect.refused' });
  expect(executed.length).toBe(1);
  const [end] = dataOf(await eventsOf(world.session, 'again'), 'run.ended').slice(-1);
  expect(end).toMatchObject({ outcome: 'error', error: { code: 'effect.refused' } });
});

test('a pending call with arguments that its tool does not take fails like any other, and the model is told', async () => {
  await using world = await openSession();
  await recorded(world.session);
  const branch = await world.session.fork('main@4', { name: 'wrong' });
  const model = scripted([said('Sorry.')]);
  const weather = tool({ inputSchema: z.object({ city: z.number() }), execute: async () => 1 });
  const { result } = await branch.resume(aiSdkAgent({ model, tools: { weather } }), { effects: 'run' });
  expect(result.text).toBe('Sorry.');
  expect(model.doGenerateCalls[0]?.prompt.at(-1)).toMatchObject({ content: [{ output: { type: 'error-json' } }] });
  const [end] = dataOf(await eventsOf(world.session, 'wrong'), 'call.ended', 'tool');
  expect(end).toMatchObject({ outcome: 'error', call: 't1' });
});

test('a pending call that needs a person is not made behind their back, and is once they have approved it', async () => {
  await using world = await openSession();
  await recorded(world.session);
  const executed: string[] = [];
  const { weather } = weatherTools(executed);
  const model = scripted([said('Cold.')]);
  const ways = {
    tool: { tools: { weather: { ...weather, needsApproval: true } } },
    asked: { tools: { weather: { ...weather, needsApproval: async () => true } } },
    settings: { tools: { weather }, toolApproval: { weather: 'user-approval' } },
    everyone: { tools: { weather }, toolApproval: () => ({ type: 'user-approval' }) },
  } as const;
  for (const [name, settings] of Object.entries(ways)) {
    const branch = await world.session.fork('main@4', { name });
    const agent = aiSdkAgent({ model, ...(settings as { tools: { weather: typeof weather } }) });
    await expect(branch.resume(agent, { effects: 'run' }), name).rejects.toMatchObject({ code: 'resume.waiting' });
    expect((await world.session.at(name).fold(waiting)).calls, name).toMatchObject([{ name: 'approval', about: 't1' }]);
    expect(dataOf(await eventsOf(world.session, name), 'call.started', 'tool'), name).toEqual([]);
    // The record answers a call that ran with a person's approval.
    const again = await world.session.fork('main@4', { name: `${name} again` });
    expect((await again.resume(agent)).reused, name).toBe(1);
  }
  expect([executed, model.doGenerateCalls.length]).toEqual([[], 4]);
  const denying = aiSdkAgent({ model, tools: { weather }, toolApproval: () => ({ type: 'denied' }) as const });
  await (await world.session.fork('main@4', { name: 'denying' })).resume(denying, { effects: 'run' });
  expect(JSON.stringify(model.doGenerateCalls.at(-1)?.prompt.at(-1))).toContain('execution-denied');
  expect(executed).toEqual([]);
  const asking = { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 't1' };
  const [{ message: asked } = {}] = dataOf(await eventsOf(world.session), 'call.ended', 'model');
  const content = [...((asked as { content: object[] } | undefined)?.content ?? []), asking] as never;
  const approval = [{ type: 'tool-approval-response', approvalId: 'a1', approved: true }];
  const approved = await world.session.fork('main@4', {
    edits: [
      { kind: 'message', seq: 4, message: { role: 'assistant', content } },
      { kind: 'append', event: { type: 'message.added', data: { message: { role: 'tool', content: approval } } } },
    ],
  });
  await approved.resume(aiSdkAgent({ model, ...ways.tool }), { effects: 'run' });
  expect(executed).toEqual(['Oslo']);
});

test('a fork with another model, system prompt and settings is resumed with them, and `run` reaches generateText', async () => {
  await using world = await openSession();
  await recorded(world.session);
  const large = story('{"degrees":7}', 'large-1');
  const branch = await world.session.fork('main@2', {
    name: 'large',
    model: 'large-1',
    system: 'Answer in JSON.',
    edits: [{ kind: 'append', event: { type: 'settings.changed', data: { settings: { temperature: 0 } } } }],
  });
  const agent = aiSdkAgent(
    { model: story('No.'), system: 'Be brief.', tools: weatherTools(), ...loop },
    { models: () => large },
  );
  const output = Output.object({ schema: z.object({ degrees: z.number() }) });
  const { result } = await branch.resume(agent, { run: { output, maxRetries: 0 } });
  expect(result.output).toEqual({ degrees: 7 });
  expect(large.doGenerateCalls[0]).toMatchObject({ temperature: 0, responseFormat: { type: 'json' } });
  expect(large.doGenerateCalls[0]?.prompt[0]).toMatchObject({ content: 'Answer in JSON.' });
  const [, run] = dataOf(await eventsOf(world.session, 'large'), 'run.started');
  expect(run?.['resumed']).toMatchObject({ framework: 'ai-sdk', options: { maxRetries: 0 } });
});

test('T15 reasoning goes back to the model that wrote it, and is kept from another one', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const signature = { anthropic: { signature: 'sig' } };
  const thought = { type: 'reasoning', text: 'Hm.', providerMetadata: signature } as const;
  await recordAiSdk(recorder).generateText({ model: scripted([said(thought, 'Which city?')]), prompt: 'Cold?' });
  const sentTo = async (name: string) => {
    const model = scripted([said('Yes.')], name);
    const branch = await world.session.fork('main', { name });
    const { repairs } = await branch.resume(aiSdkAgent({ model }), { prompt: 'Oslo.' });
    return [JSON.stringify(model.doGenerateCalls[0]?.prompt), repairs.map(({ rule }) => rule)];
  };
  expect(await sentTo('mock-1')).toEqual([expect.stringContaining('"signature":"sig"'), []]);
  expect(await sentTo('large-1')).toEqual([expect.not.stringMatching(/reasoning|sig/), ['foreign-reasoning']]);
});

test('a new prompt goes on after the answer, with an agent of another kind', async () => {
  await using world = await openSession();
  await recorded(world.session);
  const branch = await world.session.fork('main', { name: 'on' });
  const model = scripted([said('Rain.')]);
  await branch.resume(aiSdkAgent({ model }), { prompt: 'And tomorrow?' });
  expect(model.doGenerateCalls[0]?.prompt.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ]);
  const { messages } = await world.session.at('on').fold(conversation);
  expect(messages.at(-1)?.message).toMatchObject({ role: 'assistant', content: 'Rain.' });
});

test('an agent that is stopped in the middle leaves a branch that says so and can be resumed again', async () => {
  await using world = await openSession();
  await recorded(world.session);
  const branch = await world.session.fork('main@2', { name: 'stopped' });
  const stop = new AbortController();
  const { weather } = weatherTools();
  const execute = async () => {
    stop.abort();
    return 'late';
  };
  const agent = aiSdkAgent({ model: story('Never.'), tools: { weather: { ...weather, execute } }, ...loop });
  const resuming = branch.resume(agent, { signal: stop.signal, effects: 'run' });
  await expect(resuming).rejects.toMatchObject({ code: 'resume.aborted' });
  const again = await world.session.fork('stopped', { name: 'again' });
  const { text } = await again.resume(aiSdkAgent({ model: scripted([said('At last.')]), tools: weatherTools() }), {
    effects: 'run',
  });
  expect(text).toBe('At last.');
});
