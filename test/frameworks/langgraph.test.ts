/** Graphs of the real LangGraph, recorded and resumed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import { tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createReactAgent, ToolNode } from '@langchain/langgraph/prebuilt';
import { afterAll, describe, expect, test } from 'vitest';
import { conversation, type Event, openReprise, type Reprise, type Session } from '../../src/index.ts';
import {
  fromLangChainMessages,
  langgraphAgent,
  RepriseCallbackHandler,
  RepriseSaver,
  recordTools,
  toLangChainMessages,
} from '../../src/langgraph.ts';
import { type Answer, asks, ScriptedChatModel } from './scripted-chat-model.ts';

const directory = mkdtempSync(join(tmpdir(), 'reprise-langgraph-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const usage = { input_tokens: 20, output_tokens: 5, total_tokens: 25 };
const done: AIMessage = new AIMessage({
  content: 'Order 7 is refunded.',
  // Declared as never there under exactOptionalPropertyTypes.
  usage_metadata: { ...usage, input_token_details: { cache_read: 8 }, output_token_details: { reasoning: 2 } } as never,
  response_metadata: { finish_reason: 'stop', request_id: 'req-1' },
});
const story: readonly Answer[] = [asks('lookup', { order: 7 }, 'c1'), asks('refund', { order: 7 }, 'c2'), done];

/** Tools that count how often they really run. */
function shop() {
  const ran: string[] = [];
  const schema = { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] } as const;
  const make = (name: string, body: (input: { order: number }) => unknown) =>
    tool(
      async (input: unknown) => {
        ran.push(name);
        return body(input as { order: number });
      },
      { name, description: `Does a ${name}.`, schema },
    );
  const lookup = make('lookup', ({ order }) => ({ order, paid: 50 }));
  const refund = make('refund', ({ order }) => `Refunded ${order}`);
  return { ran, tools: [lookup, refund] };
}

const question = { messages: [new HumanMessage('Refund order 7.')] };

const eventsOf = (session: Session, branch = 'main'): Promise<Event[]> =>
  Array.fromAsync(session.branch(branch).replay());
const told = (events: readonly Event[]): string[] =>
  events.map(({ type, data }) =>
    [type, data['kind'], data['name'], data['outcome']].filter((word) => word !== undefined).join(' '),
  );

async function recorded(
  reprise: Reprise,
  run: (handler: RepriseCallbackHandler, session: Session) => Promise<unknown>,
  options: ConstructorParameters<typeof RepriseCallbackHandler>[1] = {},
) {
  const session = await reprise.createSession();
  const recorder = await session.record({ facts: false });
  const thrown = await run(new RepriseCallbackHandler(recorder, options), session).then(
    () => undefined,
    (error: unknown) => error,
  );
  const report = await recorder.close();
  expect(report.errors).toEqual([]);
  return { session, thrown, events: await eventsOf(session) };
}

const loop = [
  'run.started',
  'message.added',
  'call.started model scripted-1',
  'call.ended model scripted-1 ok',
  'call.started tool lookup',
  'call.ended tool lookup ok',
  'call.started model scripted-1',
  'call.ended model scripted-1 ok',
  'call.started tool refund',
  'call.ended tool refund ok',
  'call.started model scripted-1',
  'call.ended model scripted-1 ok',
  'run.ended ok',
];

describe('RepriseCallbackHandler', () => {
  test.each(['by callbacks', 'by tools that record themselves'])(
    'records a tool loop %s: every call with its cause, and no noise',
    async (how) => {
      await using reprise = await openReprise('memory:');
      const { tools } = shop();
      const llm = new ScriptedChatModel(story);
      const graph = createReactAgent({
        llm,
        tools: how === 'by callbacks' ? tools : recordTools(tools),
        prompt: 'Be kind.',
      });
      const { session, thrown, events } = await recorded(reprise, (handler) =>
        graph.invoke(question, { callbacks: [handler], runName: 'refund' }),
      );
      expect(thrown).toBeUndefined();
      expect(told(events)).toEqual(loop);
      const byId = new Map(events.map((event) => [event.id, event]));
      const causes = events.map(({ cause }) => (cause === undefined ? undefined : byId.get(cause)?.seq));
      expect(causes).toEqual([undefined, 1, 1, 3, 3, 5, 1, 7, 7, 9, 1, 11, 1]);
      expect(events.map(({ turn }) => turn)).toEqual([0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3]);
      expect(new Set(events.map(({ run }) => run)).size).toBe(1);
      expect(events[0]?.data).toEqual({ title: 'refund' });
      expect(events.at(-1)?.data['result']).toBe('Order 7 is refunded.');
      const request = events[2]?.data['request'] as Record<string, unknown>;
      expect(request['system']).toBe('Be kind.');
      expect(request['messages']).toMatchObject([{ role: 'user', content: 'Refund order 7.' }]);
      expect(request['tools']).toMatchObject([{ function: { name: 'lookup' } }, { function: { name: 'refund' } }]);
      expect(request['settings']).toEqual({ temperature: 0 });
      expect(events[4]?.data).toMatchObject({ call: 'c1', input: { order: 7 } });
      expect(events[11]?.data).toMatchObject({
        finishReason: 'stop',
        usage: { inputTokens: 20, outputTokens: 5, totalTokens: 25, cachedInputTokens: 8, reasoningTokens: 2 },
        provider: { request_id: 'req-1' },
        message: { role: 'assistant', content: 'Order 7 is refunded.' },
      });
      const { messages } = await session.fold(conversation);
      expect(messages.map(({ message }) => message?.['role'])).toEqual([
        'user',
        'assistant',
        'tool',
        'assistant',
        'tool',
        'assistant',
      ]);
    },
  );

  test('records streams with the time of the first token, and the message whole', async () => {
    await using reprise = await openReprise('memory:');
    const llm = new ScriptedChatModel([done], { streams: true });
    const { events } = await recorded(reprise, async (callbacks) => {
      for await (const _ of await llm.stream('Hi', { callbacks: [callbacks] }));
    });
    expect(events[1]?.data).toMatchObject({
      outcome: 'ok',
      usage: { inputTokens: 20 },
      firstTokenMs: expect.any(Number),
    });
    expect(events[1]?.data['message']).toMatchObject({ content: 'Order 7 is refunded.' });
  });

  test('parallel nodes and subgraphs keep their causes apart', async () => {
    await using reprise = await openReprise('memory:');
    const ask = (name: string) => async () => ({
      messages: [await new ScriptedChatModel([new AIMessage(name)], { model: name }).invoke('Hi')],
    });
    const inner = new StateGraph(MessagesAnnotation).addNode('deep', ask('deep')).addEdge(START, 'deep').compile();
    const search = tool(async () => String((await inner.invoke({ messages: [] })).messages.at(-1)?.content), {
      name: 'search',
      schema: { type: 'object', properties: {} },
    });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('left', ask('left'))
      .addNode('right', ask('right'))
      .addNode('tools', async () => ({ messages: [await search.invoke({})] }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .addEdge(START, 'tools')
      .compile();
    const { events } = await recorded(reprise, (handler) =>
      Promise.all([graph.invoke(question, { callbacks: [handler] }), graph.invoke(question, { callbacks: [handler] })]),
    );
    const runs = events.filter(({ type }) => type === 'run.started');
    expect(runs).toHaveLength(2);
    for (const { id, run } of runs) {
      const own = events.filter((event) => event.run === run && event.type === 'call.started');
      expect(own.map(({ data }) => data['name']).toSorted()).toEqual(['deep', 'left', 'right', 'search']);
      const searching = own.find(({ data }) => data['name'] === 'search');
      for (const { data, cause } of own) expect(cause).toBe(data['name'] === 'deep' ? searching?.id : id);
    }
  });

  test('records failures of models and tools, retries, and what a graph pauses for', async () => {
    await using reprise = await openReprise('memory:');
    const llm = new ScriptedChatModel([Object.assign(new Error('Too many'), { status: 429 }), new AIMessage('ok')]);
    const confirm = tool(() => interrupt('Really?'), { name: 'confirm', schema: { type: 'object', properties: {} } });
    const broken = tool(
      () => {
        throw new Error('Out of order');
      },
      { name: 'broken', schema: { type: 'object', properties: {} } },
    );
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('ask', async ({ messages }) => ({ messages: [await llm.invoke(messages)] }), {
        retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false, retryOn: () => true },
      })
      .addNode('tools', async () => new ToolNode([confirm, broken]).invoke([asks('broken', {}, 'b1')]).then(() => ({})))
      .addNode('wait', async () => {
        await confirm.invoke({ type: 'tool_call', id: 'w1', name: 'confirm', args: {} });
        return {};
      })
      .addEdge(START, 'ask')
      .addEdge('ask', 'tools')
      .addEdge('tools', 'wait')
      .addEdge('wait', END)
      .compile({ checkpointer: new MemorySaver() });
    const { events } = await recorded(reprise, (handler) =>
      graph.invoke(question, { callbacks: [handler], configurable: { thread_id: 't' } }),
    );
    expect(told(events).filter((text) => text.includes('ended'))).toEqual([
      'call.ended model scripted-1 error',
      'call.ended model scripted-1 ok',
      'call.ended tool broken error',
      'call.ended tool confirm waiting',
      'run.ended waiting',
    ]);
    expect(events.find(({ type }) => type === 'call.ended')?.data['error']).toMatchObject({
      message: 'Too many',
      status: 429,
    });
  });

  test('a recorder that fails leaves the graph alone', async () => {
    const reprise = await openReprise('memory:');
    const session = await reprise.createSession('s');
    const recorder = await session.record();
    await reprise.close();
    const { tools, ran } = shop();
    const graph = createReactAgent({ llm: new ScriptedChatModel(story), tools: recordTools(tools) });
    const { messages } = await graph.invoke(question, { callbacks: [new RepriseCallbackHandler(recorder)] });
    expect(messages.at(-1)?.text).toBe('Order 7 is refunded.');
    expect(ran).toEqual(['lookup', 'refund']);
    expect((await recorder.close()).failed).toBeGreaterThan(0);
  });

  test('what a guard refuses stops the graph; an answer that a callback cannot give is refused too', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('s');
    const recorder = await session.record({
      guards: [
        {
          before: ({ name }) =>
            name === 'refund' ? { outcome: 'ok', output: 'Refunded before', error: undefined } : undefined,
        },
      ],
    });
    const { tools, ran } = shop();
    const callbacks = [new RepriseCallbackHandler(recorder)];
    const watched = createReactAgent({ llm: new ScriptedChatModel(story), tools });
    const direct = tools[1]?.invoke({ order: 7 }, { callbacks });
    await expect(direct).rejects.toMatchObject({
      code: 'effect.refused',
      hint: expect.stringContaining('recordTools'),
    });
    await watched.invoke(question, { callbacks }).catch(() => undefined);
    expect(ran).toEqual(['lookup']);
    const wrapped = createReactAgent({ llm: new ScriptedChatModel(story), tools: recordTools(tools) });
    const { messages } = await wrapped.invoke(question, { callbacks });
    expect(ran).toEqual(['lookup', 'lookup']);
    expect(messages.find((message) => message instanceof ToolMessage && message.name === 'refund')?.text).toBe(
      'Refunded before',
    );
  });

  test('tools that record themselves need no handler, and do nothing without a recorder', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('s');
    const recorder = await session.record({ facts: false });
    const { tools } = shop();
    const [lookup] = recordTools(tools, recorder, { effects: { lookup: 'pure' } });
    expect(await lookup?.invoke({ order: 7 })).toEqual(await tools[0]?.invoke({ order: 7 }));
    await recordTools(tools)[0]?.invoke({ order: 8 });
    await recorder.close();
    const events = await eventsOf(session);
    expect(told(events)).toEqual(['call.started tool lookup', 'call.ended tool lookup ok']);
    expect(events[0]?.data['effect']).toBe('pure');
    expect(events[1]?.data['output']).toEqual({ order: 7, paid: 50 });
  });

  test('the fakes that LangChain ships are recorded as well', async () => {
    await using reprise = await openReprise('memory:');
    const { events } = await recorded(reprise, (handler) =>
      new FakeListChatModel({ responses: ['Hello'] }).invoke('Hi', { callbacks: [handler] }),
    );
    expect(told(events)).toEqual(['call.started model FakeListChatModel', 'call.ended model FakeListChatModel ok']);
  });
});

describe('messages', () => {
  test('go to the neutral form and back', () => {
    const given = [
      new SystemMessage({ id: 's', content: 'Be brief.' }),
      new HumanMessage({
        id: 'h',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        ],
      }),
      new AIMessage({
        id: 'a',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 'sig' },
          { type: 'text', text: 'Let me look.' },
        ],
        tool_calls: [{ type: 'tool_call', id: 'c1', name: 'look', args: { b: 1, a: [2] } }],
        additional_kwargs: { own: 1 },
      }),
      new ToolMessage({ id: 't', tool_call_id: 'c1', name: 'look', content: 'A cat', status: 'error' }),
      new AIMessage({ id: 'z', content: 'A cat.' }),
    ];
    const neutral = fromLangChainMessages(given);
    expect(neutral).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text' }, { type: 'image', image: 'aGk=', mediaType: 'image/png' }] },
      {
        role: 'assistant',
        content: [{ type: 'reasoning', text: 'Hm' }, { type: 'text' }, { type: 'tool-call', toolCallId: 'c1' }],
      },
      { role: 'tool', content: [{ type: 'tool-result', toolName: 'look', output: 'A cat', isError: true }] },
      { role: 'assistant', content: 'A cat.' },
    ]);
    const back = toLangChainMessages(JSON.parse(JSON.stringify(neutral)));
    expect(back.map((message) => message.toDict())).toEqual(given.map((message) => message.toDict()));
  });

  test.each([
    [
      { type: 'image', source_type: 'base64', data: 'aGk=', mime_type: 'image/png' },
      { type: 'image', image: 'aGk=', mediaType: 'image/png' },
    ],
    [
      { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'aGk=' } },
      { type: 'image', image: 'aGk=', mediaType: 'image/gif' },
    ],
    [
      { type: 'image', url: 'https://x.test/a.png' },
      { type: 'image', image: 'https://x.test/a.png' },
    ],
    [
      {
        type: 'file',
        source_type: 'base64',
        data: 'aGk=',
        mime_type: 'application/pdf',
        metadata: { filename: 'a.pdf' },
      },
      { type: 'file', data: 'aGk=', mediaType: 'application/pdf', filename: 'a.pdf' },
    ],
    [
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'file', data: 'aGk=', mediaType: 'audio/wav' },
    ],
    [
      { type: 'of-another-kind', held: [1] },
      { type: 'of-another-kind', held: [1] },
    ],
  ])('the block %j', (block, part) => {
    expect(fromLangChainMessages([new HumanMessage({ content: [block] })])[0]?.content).toEqual([part]);
  });

  test('several results of one neutral message become one message each', () => {
    const results = ['c1', 'c2'].map((toolCallId) => ({
      type: 'tool-result' as const,
      toolCallId,
      toolName: 'look',
      output: { a: 1 },
    }));
    const messages = toLangChainMessages([{ role: 'tool', content: results }]);
    expect(messages.map((message) => [(message as ToolMessage).tool_call_id, message.content])).toEqual([
      ['c1', '{"a":1}'],
      ['c2', '{"a":1}'],
    ]);
  });
});

describe('langgraphAgent()', () => {
  const build = (
    llm: ScriptedChatModel,
    tools: ReturnType<typeof shop>['tools'],
    checkpointer?: MemorySaver | RepriseSaver,
  ) => createReactAgent({ llm, tools, ...(checkpointer === undefined ? {} : { checkpointer }) });

  async function recordedShop(reprise: Reprise, checkpointer?: RepriseSaver) {
    const { tools, ran } = shop();
    const { session } = await recorded(reprise, (handler) =>
      build(new ScriptedChatModel(story), recordTools(tools), checkpointer).invoke(question, {
        callbacks: [handler],
        configurable: { thread_id: 'shop' },
      }),
    );
    return { session, tools, ran };
  }

  test('goes on from a fork with another question; what was done is not done twice', async () => {
    await using reprise = await openReprise('memory:');
    const { session, tools, ran } = await recordedShop(reprise);
    const llm = new ScriptedChatModel(story);
    const branch = await session.fork('main@2', { name: 'kindly', prompt: 'Please refund order 7.' });
    const agent = langgraphAgent(build(llm, recordTools(tools)));
    const { result, text, reused, outcome } = await branch.resume(agent, { run: { recursionLimit: 12 } });
    expect([outcome, text]).toEqual(['ok', 'Order 7 is refunded.']);
    expect(llm.asked[0]?.map((message) => message.text)).toEqual(['Please refund order 7.']);
    expect(result.messages.at(-1)?.text).toBe(text);
    expect(ran).toEqual(['lookup', 'refund']);
    expect(reused).toBe(2);
    const own = (await eventsOf(session, 'kindly')).filter(({ seq }) => seq > branch.head);
    expect(told(own)).toEqual(loop.filter((line) => line !== 'message.added'));
    expect(own.every(({ run }) => run === own[0]?.run)).toBe(true);
  });

  test('the prompt of a graph is sent once; a system message of its state is given again by configure', async () => {
    await using reprise = await openReprise('memory:');
    const asked = async (prompt: string | undefined, messages: BaseMessage[]) => {
      const llm = new ScriptedChatModel([new AIMessage('Yes.')]);
      const graph = createReactAgent({ llm, tools: [], ...(prompt === undefined ? {} : { prompt }) });
      const { session } = await recorded(reprise, (handler) => graph.invoke({ messages }, { callbacks: [handler] }));
      const branch = await session.fork('main', { name: 'on' });
      const system = messages.filter((message) => message.getType() === 'system');
      await branch.resume(langgraphAgent(graph, { configure: () => ({ messages: system }) }), { prompt: 'And now?' });
      return llm.asked.at(-1)?.map((message) => `${message.getType()} ${message.text}`);
    };
    const talk = ['human Hi', 'ai Yes.', 'human And now?'];
    expect(await asked('Be kind.', [new HumanMessage('Hi')])).toEqual(['system Be kind.', ...talk]);
    const state = [new SystemMessage('Be brief.'), new HumanMessage('Hi')];
    expect(await asked(undefined, state)).toEqual(['system Be brief.', ...talk]);
  });

  test('calls what the model had asked for, and hands over an answer that was edited', async () => {
    await using reprise = await openReprise('memory:');
    const { session, tools, ran } = await recordedShop(reprise);
    const branch = await session.fork('main@6', {
      name: 'unpaid',
      edits: [{ kind: 'toolResult', call: 'c1', output: { order: 7, paid: 0 } }],
    });
    const llm = new ScriptedChatModel([new AIMessage('Nothing to refund.')]);
    const { text } = await branch.resume(langgraphAgent(build(llm, tools), { tools }));
    expect(text).toBe('Nothing to refund.');
    expect(llm.asked[0]?.at(-1)?.text).toBe('{"order":7,"paid":0}');
    const pending = await session.fork('main@4', { name: 'pending' });
    const asked = new ScriptedChatModel([new AIMessage('Done.')]);
    await pending.resume(langgraphAgent(build(asked, tools), { tools }), { effects: 'run' });
    expect(asked.asked[0]?.at(-1)?.text).toBe('{"order":7,"paid":50}');
    expect(ran).toEqual(['lookup', 'refund', 'lookup']);
  });

  test.each(['memory', 'reprise'])(
    'one of two calls is answered: the other is made first (saver: %s)',
    async (kind) => {
      await using reprise = await openReprise('memory:');
      const { ran, tools } = shop();
      const both = [asks('lookup', { order: 7 }, 'c1'), asks('refund', { order: 7 }, 'c2')];
      const first = new AIMessage({ content: '', tool_calls: both.flatMap(({ tool_calls = [] }) => tool_calls) });
      const saver = kind === 'memory' ? new MemorySaver() : new RepriseSaver(reprise);
      const { session, events } = await recorded(reprise, (handler, { id }) =>
        build(new ScriptedChatModel([first, done]), recordTools(tools), saver).invoke(question, {
          callbacks: [handler],
          configurable: { thread_id: id },
        }),
      );
      const seen = events.find(({ type, data }) => type === 'call.ended' && data['call'] === 'c1');
      const llm = new ScriptedChatModel([done]);
      const fork = (name: string) => session.fork(`main@${seen?.seq}`, { name });
      const agent = langgraphAgent(build(llm, tools, saver), { tools });
      const { text } = await (await fork('made')).resume(agent, { effects: 'run' });
      expect([text, ran]).toEqual([done.text, ['lookup', 'refund', 'refund']]);
      expect(llm.asked[0]?.slice(2).map((message) => message.text)).toEqual(['{"order":7,"paid":50}', 'Refunded 7']);
      const bare = langgraphAgent(build(llm, tools, saver));
      const refused = (await fork('refused')).resume(bare, { effects: 'run' });
      await expect(refused).rejects.toMatchObject({ code: 'agent.invalid', hint: expect.stringContaining('"tools"') });
      expect([llm.asked.length, ran.length]).toEqual([1, 3]);
    },
  );

  test('what a tool does while its open call is made is recorded, guarded and counted', async () => {
    await using reprise = await openReprise('memory:');
    const { ran, tools } = shop();
    const pays: Answer = (messages) => (messages.length > 1 ? done : asks('refund', { order: 7 }, 'i1'));
    const inner = build(new ScriptedChatModel([pays]), recordTools(tools));
    const tenants: unknown[] = [];
    const ask = async (_: unknown, config: RunnableConfig) => {
      tenants.push(config.configurable?.['tenant']);
      return (await inner.invoke(question, config)).messages.length;
    };
    const clerk = tool(ask, {
      name: 'clerk',
      description: 'Asks a clerk.',
      schema: { type: 'object', properties: {} } as const,
    });
    const graph = createReactAgent({ llm: new ScriptedChatModel([asks('clerk', {}, 'c1'), done]), tools: [clerk] });
    const { session, events } = await recorded(reprise, (handler) => graph.invoke(question, { callbacks: [handler] }));
    const asked = events.find(({ type, data }) => type === 'call.ended' && data['kind'] === 'model');
    const agent = langgraphAgent(createReactAgent({ llm: new ScriptedChatModel([done]), tools: [clerk] }), {
      tools: [clerk],
    });
    const branch = await session.fork(`main@${asked?.seq}`, { name: 'again' });
    const effects = { names: { clerk: 'run', refund: { simulate: 'paid' } } } as const;
    const run = { configurable: { tenant: 'acme' } };
    const { modelCalls, simulated, outcome } = await branch.resume(agent, { effects, run });
    expect([outcome, modelCalls, simulated, ran]).toEqual(['ok', 3, 1, ['refund']]);
    expect(tenants).toEqual([undefined, 'acme']);
    const made = (await eventsOf(session, 'again')).slice(asked?.seq);
    expect(told(made).filter((line) => /^call.started tool/.test(line))).toEqual([
      'call.started tool clerk',
      'call.started tool refund',
    ]);
    const small = await session.fork(`main@${asked?.seq}`, { name: 'small' });
    const cut = await small.resume(agent, { effects, budget: { modelCalls: 1 } }).catch((error: unknown) => error);
    expect(cut).toMatchObject({ code: 'budget.exceeded' });
  });

  test('without its tools, a call that nobody answered is refused, and no model is asked with it', async () => {
    await using reprise = await openReprise('memory:');
    const { session, tools } = await recordedShop(reprise);
    const llm = new ScriptedChatModel([new AIMessage('Sorry.')]);
    const branch = await session.fork('main@4', { name: 'pending' });
    await expect(branch.resume(langgraphAgent(build(llm, tools)), { effects: 'run' })).rejects.toMatchObject({
      code: 'agent.invalid',
      hint: expect.stringContaining('"tools"'),
    });
    expect(llm.asked).toEqual([]);
  });

  test('T15 reasoning goes back to the model that wrote it, and is kept from another one', async () => {
    await using reprise = await openReprise('memory:');
    const thinking = new AIMessage({
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 'sig' },
        { type: 'text', text: 'Which order?' },
      ],
    });
    const { session } = await recorded(reprise, (handler) =>
      build(new ScriptedChatModel([thinking]), []).invoke(question, { callbacks: [handler] }),
    );
    const sentTo = async (model: string) => {
      const llm = new ScriptedChatModel([new AIMessage('Fine.')], { model });
      const branch = await session.fork('main', { name: model, model });
      const agent = langgraphAgent(build(llm, []), { configure: () => ({}) });
      const { repairs } = await branch.resume(agent, { prompt: 'Order 7.' });
      return [JSON.stringify(llm.asked[0]?.[1]?.content), repairs.map(({ rule }) => rule)];
    };
    expect(await sentTo('scripted-1')).toEqual([expect.stringContaining('"signature":"sig"'), []]);
    expect(await sentTo('large-1')).toEqual([expect.not.stringContaining('sig'), ['foreign-reasoning']]);
  });

  test('a graph with a saver gets a thread of its own, so that nothing stored comes before the fork', async () => {
    await using reprise = await openReprise('memory:');
    const saver = new RepriseSaver(reprise);
    const { session, tools } = await recordedShop(reprise, saver);
    const llm = new ScriptedChatModel([new AIMessage('Only this.')]);
    const branch = await session.fork('main@2', { name: 'alone' });
    const run = { configurable: { thread_id: 'shop', tenant: 'acme' } };
    await branch.resume(langgraphAgent(build(llm, tools, saver)), { run });
    expect(llm.asked[0]).toHaveLength(1);
    const shopThread = await saver.getTuple({ configurable: { thread_id: 'shop' } });
    expect(JSON.stringify(shopThread)).not.toContain('Only this.');
  });

  test('a branch that changes the model is refused, unless the graph can be built for it', async () => {
    await using reprise = await openReprise('memory:');
    const { session, tools } = await recordedShop(reprise);
    const branch = await session.fork('main@2', { name: 'larger', model: 'large-1', system: 'Be careful.' });
    const graph = build(new ScriptedChatModel([new AIMessage('From the wrong one.')]), tools);
    await expect(branch.resume(langgraphAgent(graph))).rejects.toMatchObject({
      code: 'agent.invalid',
      details: { changed: ['model', 'system'] },
    });
    const agent = langgraphAgent(graph, {
      configure: ({ model, system }) => ({
        graph: createReactAgent({
          llm: new ScriptedChatModel([new AIMessage('From the large one.')], { model: model ?? 'small-1' }),
          tools,
          ...(system === null ? {} : { prompt: system }),
        }),
      }),
    });
    const { text } = await branch.resume(agent);
    expect(text).toBe('From the large one.');
    const call = (await eventsOf(session, 'larger')).findLast(({ type }) => type === 'call.started');
    expect(call?.data).toMatchObject({
      name: 'large-1',
      request: { system: 'Be careful.', messages: [{}] },
    });
  });

  test('stops with the budget, and when the caller says so', async () => {
    await using reprise = await openReprise('memory:');
    const { session, tools } = await recordedShop(reprise);
    const branch = await session.fork('main@2', { name: 'short' });
    const agent = langgraphAgent(build(new ScriptedChatModel(story), recordTools(tools)));
    await expect(branch.resume(agent, { budget: { modelCalls: 1 } })).rejects.toMatchObject({
      code: 'budget.exceeded',
    });
    const ended = (await eventsOf(session, 'short')).findLast(({ type }) => type === 'run.ended');
    expect(ended?.data['outcome']).toBe('budget');
  });
});
