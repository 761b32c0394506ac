/** Tools that need the approval of a person, in the AI SDK and OpenAI Agents: asked, decided and resumed. */
import { Agent, tool as agentTool, Runner, RunState, setTracingDisabled } from '@openai/agents';
import { isStepCount, type ModelMessage, ToolLoopAgent } from 'ai';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { aiSdkAgent, recordAgent, recordAiSdk } from '../../src/ai-sdk.ts';
import { type Event, openReprise, type Session, waiting } from '../../src/index.ts';
import { openaiAgent, recordRunner } from '../../src/openai-agents.ts';
import { asks, said, scripted } from './ai-sdk-world.ts';
import { asks as agentAsks, type Saying, SayingModel, says } from './openai-agents-world.ts';

beforeAll(() => setTracingDisabled(true));

const eventsOf = (session: Session, branch = 'main'): Promise<Event[]> =>
  Array.fromAsync(session.branch(branch).replay());
const people = (events: readonly Event[]): unknown[] =>
  events
    .filter(({ data }) => data['kind'] === 'person')
    .map(({ type, data }) => [type, data['call'], data['about'] ?? null, data['input'] ?? data['output'] ?? null]);
const outcomes = (events: readonly Event[]): unknown[] =>
  events.filter(({ type }) => type === 'run.ended').map(({ data }) => data['outcome']);
const asked = ['call.started', 'approval:c1', 'c1', { call: 'c1', name: 'pay', input: { amount: 50 } }];
const decided = (output: object): unknown => ['call.ended', 'approval:c1', null, output];

describe('the AI SDK', () => {
  const world = () => {
    const paid: number[] = [];
    const pay = {
      inputSchema: z.object({ amount: z.number() }),
      needsApproval: true,
      execute: async ({ amount }: { amount: number }) => {
        paid.push(amount);
        return 'paid';
      },
    };
    return { paid, tools: { pay }, stopWhen: isStepCount(4) };
  };
  const question: ModelMessage = { role: 'user', content: 'Pay 50.' };
  const story = () => scripted([said(asks('pay', { amount: 50 }, 'c1')), said('Done.')]);

  test.each(['generateText', 'streamText', 'ToolLoopAgent', 'ToolLoopAgent streamed'])(
    '%s: the request and the decision are recorded, and the run waits in between',
    async (how) => {
      await using reprise = await openReprise('memory:');
      for (const approved of [true, false]) {
        const session = await reprise.createSession();
        await using recorder = await session.record({ facts: false });
        const { paid, ...settings } = world();
        const call = { model: story(), ...settings };
        const ai = recordAiSdk(recorder, { agent: 'cashier' });
        const agent = recordAgent(new ToolLoopAgent({ id: 'cashier', ...call }), recorder);
        const run = async (messages: ModelMessage[]): Promise<ModelMessage[]> => {
          if (how === 'generateText') return (await ai.generateText({ ...call, messages })).responseMessages;
          if (how === 'ToolLoopAgent') return (await agent.generate({ messages })).responseMessages;
          const stream = how === 'streamText' ? ai.streamText({ ...call, messages }) : await agent.stream({ messages });
          await stream.consumeStream();
          return stream.responseMessages;
        };
        const first = await run([question]);
        await recorder.flush();
        expect(people(await eventsOf(session))).toEqual([asked]);
        expect(outcomes(await eventsOf(session))).toEqual(['waiting']);
        expect((await session.fold(waiting)).calls).toMatchObject([{ call: 'approval:c1', agent: 'cashier' }]);
        const parts = first.flatMap(({ content }): readonly object[] => (typeof content === 'string' ? [] : content));
        const request = parts.find((part) => 'approvalId' in part) as { readonly approvalId: string } | undefined;
        const reason = approved ? {} : { reason: 'Too much' };
        const response = {
          type: 'tool-approval-response',
          approvalId: request?.approvalId ?? '',
          approved,
          ...reason,
        } as const;
        await run([question, ...first, { role: 'tool', content: [response] }]);
        await recorder.flush();
        const events = await eventsOf(session);
        expect(people(events)).toEqual([asked, decided({ approved, ...reason })]);
        expect([outcomes(events), paid]).toEqual([['waiting', 'ok'], approved ? [50] : []]);
        expect((await session.fold(waiting)).calls).toEqual([]);
      }
    },
  );

  test.each(['settings', 'a ToolLoopAgent'])('a branch that waits is resumed with a decision: %s', async (kind) => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession();
    const { paid, ...settings } = world();
    await using recorder = await session.record({ facts: false });
    await recordAiSdk(recorder, { agent: 'cashier' }).generateText({
      model: story(),
      ...settings,
      messages: [question],
    });
    const model = scripted([said('Done.')]);
    const all = { model, ...settings };
    const agent = kind === 'settings' ? aiSdkAgent(all) : aiSdkAgent(new ToolLoopAgent(all));
    const yes = await session.fork('main', { name: 'yes' });
    await expect(yes.resume(agent as never)).rejects.toMatchObject({ code: 'resume.waiting' });
    const paying = await yes.resume(agent as never, { approve: ['c1'] });
    expect([paying.outcome, paying.text, paid]).toEqual(['ok', 'Done.', [50]]);
    expect(JSON.stringify(model.doGenerateCalls.at(-1)?.prompt.at(-1))).toContain('"value":"paid"');
    const no = await session.fork('main', { name: 'no' });
    await no.resume(agent as never, { deny: [{ call: 'approval:c1', reason: 'Too much' }], effects: 'run' });
    const told = JSON.stringify(model.doGenerateCalls.at(-1)?.prompt.at(-1));
    expect(told).toContain('execution-denied');
    expect(told).toContain('Too much');
    expect(paid).toEqual([50]);
    expect(people(await eventsOf(session, 'no'))).toEqual([asked, decided({ approved: false, reason: 'Too much' })]);
  });

  test('a resumed run that asks ends waiting, and says what waits', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession();
    const { paid, ...settings } = world();
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Pay 50.' } } });
    const agent = aiSdkAgent({ model: story(), ...settings });
    const stopped = await session.resume(agent);
    expect([stopped.outcome, stopped.waiting.map(({ about }) => about), paid]).toEqual(['waiting', ['c1'], []]);
    const over = await session.resume(agent, { approve: ['c1'] });
    expect([over.outcome, over.text, over.waiting, paid]).toEqual(['ok', 'Done.', [], [50]]);
  });

  test('an irreversible call whose approval nobody asked for yet is asked about, and then made', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession();
    const { paid, ...settings } = world();
    const decision = { type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input: { amount: 50 } };
    const model = { call: 'm1', kind: 'model', name: 'small-1' };
    await session.append([
      { type: 'call.started', data: { ...model, request: { messages: [{ role: 'user', content: 'Pay 50.' }] } } },
      { type: 'call.ended', data: { ...model, outcome: 'ok', message: { role: 'assistant', content: [decision] } } },
    ]);
    const effects = { pay: 'irreversible' } as const;
    const agent = aiSdkAgent({ model: scripted([said('Done.')]), ...settings }, { effects });
    await expect(session.resume(agent)).rejects.toMatchObject({ code: 'resume.waiting' });
    expect([people(await eventsOf(session)), paid]).toEqual([[asked], []]);
    expect((await session.resume(agent, { approve: ['c1'] })).outcome).toBe('ok');
    expect(paid).toEqual([50]);
  });
});

describe('OpenAI Agents', () => {
  const world = () => {
    const paid: number[] = [];
    const pay = agentTool({
      name: 'pay',
      description: 'Pays',
      parameters: z.object({ amount: z.number() }),
      needsApproval: true,
      execute: async ({ amount }) => {
        paid.push(amount);
        return 'paid';
      },
    });
    return { paid, cashier: new Agent({ name: 'cashier', tools: [pay] }) };
  };
  const runnerOf = (sayings: readonly Saying[]) => {
    const model = new SayingModel(sayings);
    return { model, runner: new Runner({ modelProvider: { getModel: () => model } }) };
  };
  const story = () => runnerOf([[agentAsks('c1', 'pay', { amount: 50 })], says('Done.')]).runner;

  test.each(['whole', 'streamed', 'stored'])('%s: the request, the decision and the call are recorded', async (how) => {
    await using reprise = await openReprise('memory:');
    for (const approved of [true, false]) {
      const session = await reprise.createSession();
      await using recorder = await session.record({ facts: false });
      const { paid, cashier } = world();
      const runner = recordRunner(story(), recorder);
      const run = async (input: Parameters<Runner['run']>[1]) => {
        if (how !== 'streamed') return runner.run(cashier, input as string);
        const streamed = await runner.run(cashier, input as string, { stream: true });
        for await (const _ of streamed);
        await streamed.completed;
        return streamed;
      };
      const first = await run('Pay 50.');
      await recorder.flush();
      expect(people(await eventsOf(session))).toEqual([asked]);
      expect(outcomes(await eventsOf(session))).toEqual(['waiting']);
      const state = how === 'stored' ? await RunState.fromString(cashier, first.state.toString()) : first.state;
      const [item] = state.getInterruptions();
      if (item !== undefined && approved) state.approve(item);
      else if (item !== undefined) state.reject(item, { message: 'Too much' });
      await run(state as never);
      await recorder.flush();
      const events = await eventsOf(session);
      const output = approved ? { approved } : { approved, reason: 'Too much' };
      expect(people(events)).toEqual([asked, decided(output)]);
      expect([outcomes(events), paid]).toEqual([['waiting', 'ok'], approved ? [50] : []]);
      expect(events.filter(({ data }) => data['kind'] === 'tool')).toHaveLength(approved ? 2 : 0);
      expect((await session.fold(waiting)).calls).toEqual([]);
    }
  });

  test('a branch that waits is resumed with a decision; a run that asks again waits again', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession();
    const { paid, cashier } = world();
    await using recorder = await session.record({ facts: false });
    await recordRunner(story(), recorder).run(cashier, 'Pay 50.');
    const { model, runner } = runnerOf([[agentAsks('c2', 'pay', { amount: 9 })], says('Done.'), says('Fine.')]);
    const agent = openaiAgent(cashier, { runner });
    const yes = await session.fork('main', { name: 'yes' });
    await expect(yes.resume(agent)).rejects.toMatchObject({ code: 'resume.waiting' });
    const stopped = await yes.resume(agent, { approve: ['c1'] });
    expect([stopped.outcome, stopped.waiting.map(({ about }) => about), paid]).toEqual(['waiting', ['c2'], [50]]);
    const over = await yes.resume(agent, { deny: ['c2'] });
    expect([over.outcome, over.text, paid]).toEqual(['ok', 'Done.', [50]]);
    expect(model.sent(1).at(-1)).toMatchObject({ output: { text: 'Tool execution was not approved.' } });
    const no = await session.fork('main', { name: 'no' });
    await no.resume(agent, { deny: [{ call: 'c1', reason: 'Too much' }] });
    expect(JSON.stringify(model.sent(2).at(-1))).toContain('Too much');
    expect(paid).toEqual([50]);
  });
});
