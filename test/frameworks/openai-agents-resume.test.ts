/** OpenAI Agents, resumed: branches of recorded runs go on in the real framework. */
import {
  Agent,
  type MCPServer,
  MemorySession,
  type ModelProvider,
  Runner,
  type RunStreamEvent,
  setTracingDisabled,
  tool,
  user,
} from '@openai/agents';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { conversation, type Session } from '../../src/index.ts';
import { openaiAgent, recordAgent, recordRunner } from '../../src/openai-agents.ts';
import { asks, dataOf, recorded, type Saying, SayingModel, says } from './openai-agents-world.ts';

beforeAll(() => setTracingDisabled(true));

let refunds: number[] = [];
beforeEach(() => {
  refunds = [];
});

const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  parameters: z.object({ amount: z.number() }),
  execute: async ({ amount }) => {
    refunds.push(amount);
    return { refunded: amount };
  },
});
const support = new Agent({ name: 'support', instructions: 'Help.', tools: [refund], model: 'small-1' });

const fail = (): never => {
  throw new Error('The store is closed');
};

/** A provider that knows its models by name. */
const modelsOf = (models: Readonly<Record<string, SayingModel>>): ModelProvider => ({
  getModel: (name = '') => {
    const model = models[name];
    if (model === undefined) throw new Error(`There is no model ${name}`);
    return model;
  },
});

/** A recorded session of the agent, whose model says these things. */
async function recordedStory(agent: Agent, sayings: readonly Saying[]): Promise<Session> {
  const { session } = await recorded(async (recorder) => {
    const runner = recordRunner(runnerOf({ 'small-1': new SayingModel(sayings) }), recorder, { title: 'story' });
    await runner.run(agent, 'Refund order 7');
  });
  return session;
}

const story = () => recordedStory(support, [[asks('c1', 'refund', { amount: 500 })], says('Refunded 500.')]);

const runnerOf = (models: Readonly<Record<string, SayingModel>>) => new Runner({ modelProvider: modelsOf(models) });

describe('a branch', () => {
  test('goes on with another prompt, which is sent once, and the original is as it was', async () => {
    const session = await story();
    const before = await session.fingerprint();
    const model = new SayingModel([[asks('c9', 'refund', { amount: 50 })], says('Refunded 50.')]);
    const branch = await session.fork('main@2', { name: 'careful', prompt: 'Refund what was paid: 50.' });
    const agent = openaiAgent(support, { runner: runnerOf({ 'small-1': model }) });
    const resumed = await branch.resume(agent, { run: { maxTurns: 5 } });
    expect(resumed.result.finalOutput).toBe('Refunded 50.');
    expect(resumed.text).toBe('Refunded 50.');
    expect(model.requests[0]?.input).toEqual([{ type: 'message', role: 'user', content: 'Refund what was paid: 50.' }]);
    expect(refunds).toEqual([500, 50]);
    const events = await Array.fromAsync(session.at('careful').replay());
    expect(dataOf(events, 'run.started').at(-1)).toMatchObject({
      resumed: { framework: 'openai-agents', options: { maxTurns: 5 } },
    });
    expect(await session.fingerprint()).toEqual(before);
    const { messages } = await session.at('careful').fold(conversation);
    expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('goes on with another model, system prompt and settings', async () => {
    const session = await story();
    const model = new SayingModel([says('Certainly.')], 'large-1');
    const branch = await session.fork('main@1', {
      name: 'large',
      model: 'large-1',
      system: 'Be careful.',
      edits: [
        { kind: 'insert', after: 1, event: { type: 'settings.changed', data: { settings: { temperature: 0 } } } },
      ],
    });
    await branch.resume(openaiAgent(support, { runner: runnerOf({ 'large-1': model }) }), { prompt: 'Hello' });
    expect(model.requests[0]).toMatchObject({ systemInstructions: 'Be careful.' });
    const started = dataOf(await Array.fromAsync(session.at('large').replay()), 'call.started', 'model').at(-1);
    expect(started).toMatchObject({ name: 'large-1', request: { settings: { temperature: 0 } } });
    expect(support.model).toBe('small-1');
    expect(support.instructions).toBe('Help.');
  });

  test('between a tool call and its answer goes on from the recorded answer, or executes the tool where it may', async () => {
    const session = await story();
    const agent = (model: SayingModel) => openaiAgent(support, { runner: runnerOf({ 'small-1': model }) });
    for (const [effects, made] of [
      ['reuse', []],
      ['run', [500]],
    ] as const) {
      refunds = [];
      // Right after the model asked for the tool.
      const branch = await session.fork('main@4', { name: effects });
      const model = new SayingModel([says('Refunded 500, again.')]);
      const resumed = await branch.resume(agent(model), { effects });
      expect(resumed.result.finalOutput).toBe('Refunded 500, again.');
      expect(refunds).toEqual(made);
      expect(model.sent(0).slice(1)).toMatchObject([
        { type: 'function_call', callId: 'c1', arguments: '{"amount":500}' },
        { type: 'function_call_result', callId: 'c1', output: { type: 'text', text: '{"refunded":500}' } },
      ]);
    }
  });

  test('executes a tool of a server, and records a tool that fails as it is recorded live', async () => {
    const nothing = { type: 'object', additionalProperties: false } as const;
    const server: MCPServer = {
      name: 'files',
      cacheToolsList: false,
      connect: async () => undefined,
      close: async () => undefined,
      invalidateToolsCache: async () => undefined,
      listTools: async () => [{ name: 'find', inputSchema: { ...nothing, properties: {}, required: [] } }],
      callTool: async () => [{ type: 'text', text: 'Found.' }],
    };
    const look = tool({ name: 'look', description: 'Looks', parameters: z.object({}), execute: () => fail() });
    const execute = () => new Promise<string>(() => undefined);
    const slow = tool({ name: 'slow', description: 'Waits', parameters: z.object({}), timeoutMs: 20, execute });
    const agent = support.clone({ tools: [look, slow], mcpServers: [server] });
    for (const name of ['find', 'look', 'slow']) {
      const session = await recordedStory(agent, [[asks('c1', name, {})], says('Done.')]);
      const model = new SayingModel([says('Done.')]);
      const branch = await session.fork('main@4', { name });
      await branch.resume(openaiAgent(agent, { runner: runnerOf({ 'small-1': model }) }), { effects: 'run' });
      const [live, made] = await Promise.all(['main', name].map((at) => Array.fromAsync(session.at(at).replay())));
      const { latencyMs: _, ...end } = dataOf(live ?? [], 'call.ended', 'tool')[0] ?? {};
      expect(dataOf(made ?? [], 'call.ended', 'tool')).toMatchObject([end]);
      expect(end['outcome']).toBe(name === 'find' ? 'ok' : 'error');
    }
  });

  test('with another answer of the tool goes on from that answer', async () => {
    const session = await story();
    const branch = await session.fork('main@6', {
      name: 'answered',
      edits: [{ kind: 'toolResult', call: 'c1', output: { refunded: 12 } }],
    });
    const model = new SayingModel([says('Refunded 12.')]);
    await branch.resume(openaiAgent(support, { runner: runnerOf({ 'small-1': model }) }));
    expect(model.sent(0).at(-1)).toMatchObject({
      output: { type: 'text', text: '{"refunded":12}' },
    });
    // In the list it is the value that the edit gave, not the text the model was sent.
    const started = dataOf(await Array.fromAsync(session.at('answered').replay()), 'call.started', 'model').at(-1);
    expect(started).toMatchObject({ request: { messages: [{}, {}, { content: [{ output: { refunded: 12 } }] }] } });
    expect(refunds).toEqual([500]);
  });

  test('T15 of a model that reasons goes on with its reasoning, and with another model without it', async () => {
    const thinking: Saying = [
      { type: 'reasoning', id: 'rs_1', content: [], providerData: { encrypted_content: 'gAAA' } },
      { ...asks('c1', 'refund', { amount: 500 }), id: 'fc_1' } as never,
    ];
    const session = await recordedStory(support, [thinking, says('Done.')]);
    const same = new SayingModel([says('Same.')]);
    const first = await session.fork('main@6', { name: 'same' });
    await first.resume(openaiAgent(support, { runner: runnerOf({ 'small-1': same }) }));
    expect(same.sent(0).slice(1, 3)).toMatchObject([
      { type: 'reasoning', id: 'rs_1', providerData: { encrypted_content: 'gAAA' } },
      { type: 'function_call', id: 'fc_1' },
    ]);
    const other = new SayingModel([says('Other.')]);
    const second = await session.fork('main@6', { name: 'other', model: 'large-1' });
    const resumed = await second.resume(openaiAgent(support, { runner: runnerOf({ 'large-1': other }) }));
    expect(resumed.repairs.map(({ rule }) => rule)).toContain('foreign-reasoning');
    const sent = other.sent(0);
    expect(sent.map((item) => [item.type, 'id' in item])).toEqual([
      ['message', false],
      ['function_call', false],
      ['function_call_result', false],
    ]);
  });

  test('T10 does not repeat a call that cannot be taken back', async () => {
    const session = await story();
    const branch = await session.fork('main@2', { name: 'again' });
    const model = new SayingModel([[asks('c9', 'refund', { amount: 500 })], says('Refunded.')]);
    const agent = openaiAgent(support, {
      runner: runnerOf({ 'small-1': model }),
      effects: { refund: 'irreversible' },
    });
    await expect(branch.resume(agent)).rejects.toMatchObject({ code: 'effect.refused' });
    expect(refunds).toEqual([500]);
  });

  test('of a tool that needs a person is not executed behind their back', async () => {
    const guarded = new Agent({
      name: 'support',
      model: 'small-1',
      tools: [
        tool({
          name: 'refund',
          description: 'Refunds',
          parameters: z.object({ amount: z.number() }),
          needsApproval: true,
          execute: async ({ amount }) => refunds.push(amount),
        }),
      ],
    });
    const session = await recordedStory(guarded, [[asks('c1', 'refund', { amount: 500 })]]);
    const branch = await session.fork('main', { name: 'waiting' });
    const agent = openaiAgent(guarded, { runner: runnerOf({ 'small-1': new SayingModel([says('Done.')]) }) });
    await expect(branch.resume(agent)).rejects.toMatchObject({ code: 'resume.waiting' });
    expect(refunds).toEqual([]);
  });
});

describe('whoever has the floor', () => {
  const cashier = new Agent({ name: 'cashier', instructions: 'You pay.', tools: [refund], model: 'small-1' });
  const desk = new Agent({ name: 'desk', instructions: 'You ask.', handoffs: [cashier], model: 'small-1' });

  test('goes on after a handoff, with all that was said since', async () => {
    const session = await recordedStory(desk, [
      [asks('c1', 'transfer_to_cashier', {})],
      [asks('c2', 'refund', { amount: 500 })],
      says('Refunded 500.'),
    ]);
    const events = await Array.fromAsync(session.replay());
    const answered = events.find(({ type, data }) => type === 'call.ended' && data['name'] === 'refund');
    const branch = await session.at({ branch: 'main', seq: answered?.seq ?? 0 }).fork({ name: 'later' });
    const model = new SayingModel([says('It is done.')]);
    const resumed = await branch.resume(openaiAgent(desk, { runner: runnerOf({ 'small-1': model }) }));
    expect(model.requests[0]).toMatchObject({ systemInstructions: 'You pay.' });
    expect(model.sent(0).map(({ type }) => type)).toEqual([
      'message',
      'function_call',
      'function_call_result',
      'function_call',
      'function_call_result',
    ]);
    expect(resumed.result.lastAgent?.name).toBe('cashier');
  });

  test('is handed it by a handoff that was pending', async () => {
    const session = await recordedStory(desk, [[asks('c1', 'transfer_to_cashier', {})], says('Hello.')]);
    const branch = await session.fork('main@4', { name: 'handing' });
    const model = new SayingModel([says('I am the cashier.')]);
    const resumed = await branch.resume(openaiAgent(desk, { runner: runnerOf({ 'small-1': model }) }));
    expect(model.requests[0]).toMatchObject({ systemInstructions: 'You pay.' });
    expect(resumed.result.finalOutput).toBe('I am the cashier.');
  });
});

test('handoffs that an agent gets later are known to the resumable agent', () => {
  const front = support.clone({ name: 'front' });
  const agent = openaiAgent(front);
  front.handoffs = [support];
  expect(agent.handsOffTo).toEqual(['support']);
});

test('what records on one session can be resumed on another, and records there alone', async () => {
  const front = new Agent({ name: 'support', handoffs: [support.clone({ name: 'payer' })], model: 'small-1' });
  const first = await recorded(async (recorder) => {
    const agent = recordAgent(recordAgent(front, recorder, { effects: { refund: 'irreversible' } }), recorder);
    await recorder.close();
    const target = await story();
    const branch = await target.fork('main@2', { name: 'elsewhere', system: 'Pass it on.' });
    const model = new SayingModel([
      [asks('c8', 'transfer_to_payer', {})],
      [asks('c9', 'refund', { amount: 5 })],
      says('Done.'),
    ]);
    await branch.resume(openaiAgent(agent, { runner: recordRunner(runnerOf({ 'small-1': model }), recorder) }), {
      effects: 'run',
    });
    const events = await Array.fromAsync(target.at('elsewhere').replay());
    const names = events.filter(({ type }) => type === 'call.ended').map(({ data }) => data['name']);
    expect(names).toEqual(['small-1', 'transfer_to_payer', 'small-1', 'refund', 'small-1']);
    expect(events.find(({ data }) => data['name'] === 'refund')?.data['effect']).toBe('irreversible');
  });
  expect(first.events).toEqual([]);
});

test('tools of a recorded agent keep their effect class with every agent that has them', async () => {
  const session = await story();
  const recorder = await session.record({ facts: false });
  const payer = recordAgent(support.clone({ name: 'payer' }), recorder, { effects: { refund: 'irreversible' } });
  await recorder.close();
  refunds = [];
  const asking = [asks('c9', 'refund', { amount: 5 })];
  const refused = { code: 'effect.refused' };
  const front = new Agent({ name: 'support', handoffs: [payer], model: 'small-1' });
  const third = support.clone({ tools: payer.tools });
  const resumed = async (agent: Agent, at: string, sayings: readonly Saying[], options: object = {}) => {
    const branch = await session.fork(at, options);
    await branch.resume(openaiAgent(agent, { runner: runnerOf({ 'small-1': new SayingModel(sayings) }) }));
  };
  await expect(resumed(front, 'main@2', [[asks('c8', 'transfer_to_payer', {})], asking])).rejects.toMatchObject(
    refused,
  );
  await expect(resumed(third, 'main@2', [asking])).rejects.toMatchObject(refused);
  const tools = [{ name: 'refund', description: 'Pays back' }];
  await expect(resumed(third, 'main@2', [asking], { tools })).rejects.toMatchObject(refused);
  expect(openaiAgent(front).effectOf?.({ call: 'c1', name: 'refund', input: {} })).toBe('irreversible');
  expect(refunds).toEqual([]);
  const pending = await session.fork('main@4', { name: 'pending' });
  await pending.resume(openaiAgent(third, { runner: runnerOf({ 'small-1': new SayingModel([says('Done.')]) }) }), {
    effects: 'run',
  });
  const events = await Array.fromAsync(session.at('pending').replay());
  expect(dataOf(events, 'call.started', 'tool')).toMatchObject([{ name: 'refund', effect: 'irreversible' }]);
  expect(refunds).toEqual([500]);
});

describe('what the run is given', () => {
  test('a stored session is neither read nor written, an empty one gets the history of the branch', async () => {
    const session = await story();
    const full = new MemorySession({ initialItems: [user('Something else entirely')] });
    const empty = new MemorySession();
    for (const [name, memory] of Object.entries({ full, empty })) {
      const model = new SayingModel([says('Fine.')]);
      const branch = await session.fork('main@6', { name });
      const agent = openaiAgent(support, { runner: runnerOf({ 'small-1': model }) });
      await branch.resume(agent, { run: { session: memory } });
      expect(model.sent(0)[0]).toMatchObject({ content: 'Refund order 7' });
    }
    expect(await full.getItems()).toHaveLength(1);
    expect(await empty.getItems()).toHaveLength(4);
  });

  test('a history that a server keeps is refused, and so is a stream that nobody waits for', async () => {
    const session = await story();
    const branch = await session.fork('main@6', { name: 'refused' });
    const agent = openaiAgent(support, { runner: runnerOf({ 'small-1': new SayingModel([]) }) });
    await expect(branch.resume(agent, { run: { conversationId: 'conv_1' } })).rejects.toMatchObject({
      code: 'resume.invalid',
    });
    await expect(branch.resume(agent, { run: { stream: true } as never })).rejects.toMatchObject({
      code: 'resume.invalid',
    });
  });

  test('with onEvent the run is streamed, and every event is told', async () => {
    const session = await story();
    const seen: RunStreamEvent['type'][] = [];
    const agent = openaiAgent(support, {
      runner: runnerOf({ 'small-1': new SayingModel([says('Fine so far.')]) }),
      onEvent: ({ type }) => seen.push(type),
    });
    const branch = await session.fork('main@6', { name: 'streamed' });
    const { result } = await branch.resume(agent);
    expect(result.finalOutput).toBe('Fine so far.');
    expect(seen).toContain('raw_model_stream_event');
    expect(seen).toContain('run_item_stream_event');
  });

  test('context, listeners and guardrails of the runner reach the run', async () => {
    const session = await story();
    const heard: string[] = [];
    const seen: unknown[] = [];
    const model = new SayingModel([[asks('c9', 'who', {})], says('Ada.')]);
    const runner = runnerOf({ 'small-1': model });
    runner.on('agent_end', (_context, agent) => heard.push(agent.name));
    const asking = new Agent<{ readonly user: string }>({
      name: 'support',
      model: 'small-1',
      tools: [
        tool({
          name: 'who',
          description: 'Who is it',
          parameters: z.object({}),
          execute: async (_input, context) => seen.push(context?.context),
        }),
      ],
    });
    const branch = await session.fork('main@6', { name: 'context' });
    await branch.resume(openaiAgent(asking, { runner }), { run: { context: { user: 'Ada' } } });
    expect(heard).toEqual(['support']);
    // A call that was decided and not made is made in the same context.
    const events = await Array.fromAsync(session.at('context').replay());
    const made = events.find(({ type, data }) => type === 'call.started' && data['name'] === 'who')?.seq ?? 0;
    const again = await session.at({ branch: 'context', seq: made - 1 }).fork();
    const agent = openaiAgent(asking, { runner: runnerOf({ 'small-1': new SayingModel([says('Eve.')]) }) });
    await again.resume(agent, { run: { context: { user: 'Eve' } }, effects: 'run' });
    expect(seen).toEqual([{ user: 'Ada' }, { user: 'Eve' }]);
  });

  test('a signal that is aborted stops it, and the branch says so', async () => {
    const session = await story();
    const control = new AbortController();
    class AbortingModel extends SayingModel {
      override async getResponse(): Promise<never> {
        control.abort();
        await new Promise((resolve) => setImmediate(resolve));
        throw control.signal.reason;
      }
    }
    const branch = await session.fork('main@6', { name: 'stopped' });
    const agent = openaiAgent(support, { runner: runnerOf({ 'small-1': new AbortingModel([]) }) });
    await expect(branch.resume(agent, { signal: control.signal })).rejects.toThrow(/abort/i);
    const events = await Array.fromAsync(session.at('stopped').replay());
    expect(dataOf(events, 'run.ended').at(-1)).toMatchObject({ outcome: 'aborted' });
    expect(dataOf(events, 'call.ended', 'model').at(-1)).toMatchObject({ outcome: 'aborted' });
  });

  test('a tool that the branch names and the agent lacks is refused by name', async () => {
    const session = await story();
    const branch = await session.fork('main@6', { name: 'tools', tools: [{ type: 'function', name: 'fly' }] });
    const agent = openaiAgent(support, { runner: runnerOf({ 'small-1': new SayingModel([says('No.')]) }) });
    await expect(branch.resume(agent)).rejects.toMatchObject({ code: 'agent.invalid', message: /"fly"/ });
    const fewer = await session.fork('main@6', { name: 'fewer', tools: [] });
    const model = new SayingModel([says('No tools.')]);
    await fewer.resume(openaiAgent(support, { runner: runnerOf({ 'small-1': model }) }));
    expect(model.requests[0]?.tools).toEqual([]);
  });
});
