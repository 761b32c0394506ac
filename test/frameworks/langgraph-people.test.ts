/** Graphs of the real LangGraph that wait for a person, recorded and resumed. */
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createAgent, humanInTheLoopMiddleware } from 'langchain';
import { describe, expect, test } from 'vitest';
import {
  type Branch,
  conversation,
  type Event,
  openReprise,
  type Reprise,
  type Session,
  waiting,
} from '../../src/index.ts';
import { langgraphAgent, RepriseCallbackHandler, RepriseSaver, recordTools } from '../../src/langgraph.ts';
import { asks, ScriptedChatModel } from './scripted-chat-model.ts';

const question = { messages: [new HumanMessage('Refund order 7.')] };
const asksRefund = asks('refund', { order: 7 }, 'c1');
const done = new AIMessage('Refunded.');
const schema = { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] } as const;

/** A tool that counts how often it really pays. */
function cashDesk(confirm?: () => unknown) {
  const paid: unknown[] = [];
  const refund = tool(
    async (input: unknown) => {
      const said = confirm?.();
      if (said === 'no') return 'The clerk said no.';
      paid.push(input);
      return 'paid';
    },
    { name: 'refund', description: 'Pays money back.', schema },
  );
  return { paid, refund };
}

const personEvents = (events: readonly Event[]): unknown[] =>
  events
    .filter(({ data }) => data['kind'] === 'person')
    .map(({ type, data }) => [type, data['name'], data['about'] ?? null, data['input'] ?? data['output'] ?? null]);
const eventsOf = (session: Session, branch = 'main'): Promise<Event[]> =>
  Array.fromAsync(session.branch(branch).replay());
const endOf = (events: readonly Event[]): unknown =>
  events.findLast(({ type }) => type === 'run.ended')?.data['outcome'];
const waitsOn = async (session: Session, branch = 'main') => (await session.at(branch).fold(waiting)).calls;

interface Invoked {
  invoke(input: never, config: never): Promise<unknown>;
}

/** Records one invocation of a graph in a session, on the thread of that name. */
async function invoked(session: Session, graph: Invoked, input: unknown, thread = 'thread-1'): Promise<unknown> {
  await using recorder = await session.record({ facts: false });
  const callbacks = [new RepriseCallbackHandler(recorder)];
  const result = await graph.invoke(input as never, { callbacks, configurable: { thread_id: thread } } as never);
  expect((await recorder.flush()).errors).toEqual([]);
  return result;
}

const sessionsOf = async (reprise: Reprise): Promise<string[]> =>
  (await Array.fromAsync(reprise.sessions())).map(({ session }) => session).sort();

describe('a graph with interruptBefore', () => {
  const build = (refund: ReturnType<typeof cashDesk>['refund'], answers = [asksRefund, done]) =>
    createReactAgent({
      llm: new ScriptedChatModel(answers),
      tools: [refund],
      checkpointer: new MemorySaver(),
      interruptBefore: ['tools'],
    });

  test('ends waiting, and what waits is an approval of the call', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('shop');
    const { refund, paid } = cashDesk();
    const graph = build(refund);
    await invoked(session, graph, question);
    const events = await eventsOf(session);
    expect(endOf(events)).toBe('waiting');
    expect(personEvents(events)).toEqual([
      ['call.started', 'approval', 'c1', { call: 'c1', name: 'refund', input: { order: 7 } }],
    ]);
    expect(paid).toEqual([]);
    await invoked(session, graph, null);
    expect(paid).toEqual([{ order: 7 }]);
    expect(personEvents(await eventsOf(session)).at(-1)).toEqual(['call.ended', 'approval', null, { approved: true }]);
    expect(endOf(await eventsOf(session))).toBe('ok');
    expect(await waitsOn(session)).toEqual([]);
  });

  test.each(['after it waited', 'before it waited'])('a fork %s never pays unless a person approves', async (when) => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('shop');
    const { refund, paid } = cashDesk();
    await invoked(session, build(refund), question);
    const answered = (await eventsOf(session)).find(
      ({ type, data }) => type === 'call.ended' && data['kind'] === 'model',
    );
    const point = when === 'after it waited' ? 'main' : `main@${answered?.seq}`;
    const agent = langgraphAgent(build(refund, [done]), { tools: [refund] });
    const branch = await session.fork(point, { name: 'again' });
    await expect(branch.resume(agent)).rejects.toMatchObject({ code: 'resume.waiting' });
    await expect(branch.resume(agent, { effects: 'run' })).rejects.toMatchObject({ code: 'resume.waiting' });
    expect(paid).toEqual([]);
    const denied = await session.fork(point, { name: 'denied' });
    const no = await denied.resume(agent, { deny: [{ call: 'c1', reason: 'Too late' }] });
    expect([no.outcome, no.text, paid]).toEqual(['ok', 'Refunded.', []]);
    const told = no.result.messages.at(-2)?.text;
    expect(told).toBe('The call was denied: Too late');
    const yes = await branch.resume(agent, { approve: ['c1'] });
    expect([yes.outcome, yes.text, paid]).toEqual(['ok', 'Refunded.', [{ order: 7 }]]);
  });
});

test('a call beside one that is answered or denied waits for its own approval', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('shop');
  const { refund, paid } = cashDesk();
  const both = ['c1', 'c2'].flatMap((id) => asks('refund', { order: 7 }, id).tool_calls ?? []);
  const asksTwice = new AIMessage({ content: '', tool_calls: both });
  const build = (answers: AIMessage[], pauses: object) =>
    createReactAgent({
      llm: new ScriptedChatModel(answers),
      tools: [refund],
      checkpointer: new MemorySaver(),
      ...pauses,
    });
  const pauses = { interruptBefore: ['tools' as const] };
  await invoked(session, build([asksTwice, done], {}), question);
  const events = await eventsOf(session);
  const endOfCall = (call: string) =>
    events.find(({ type, data }) => type === 'call.ended' && (data['call'] === call || data['kind'] === call))?.seq;
  const agent = langgraphAgent(build([done], pauses), { tools: [refund] });
  const beside = await session.fork(`main@${endOfCall('c1')}`, { name: 'beside' });
  const asked = await beside.resume(agent, { effects: 'run' }).catch((error: unknown) => error);
  expect([asked, paid.length]).toMatchObject([{ code: 'resume.waiting' }, 2]);
  expect((await waitsOn(session, 'beside')).map(({ about }) => about)).toEqual(['c2']);
  const denied = await session.fork(`main@${endOfCall('model')}`, { name: 'denied' });
  const { text, result } = await denied.resume(agent, { effects: 'run', approve: ['c2'], deny: [{ call: 'c1' }] });
  expect([text, paid.length]).toEqual(['Refunded.', 3]);
  const told = result.messages.slice(-3, -1).map((message) => message.text);
  expect(told).toEqual(['The call was denied.', 'paid']);
});

describe('interrupt()', () => {
  const inTool = (saver: MemorySaver | RepriseSaver, options: { readonly isRecorded?: boolean } = {}) => {
    const { refund, paid } = cashDesk(() => interrupt({ ask: 'Really?' }));
    const tools = options.isRecorded === true ? recordTools([refund]) : [refund];
    const build = (answers = [asksRefund, done]) =>
      createReactAgent({ llm: new ScriptedChatModel(answers), tools, checkpointer: saver });
    return { build, paid };
  };

  test.each([false, true])(
    'inside a tool is a question, not the answer of the tool (recordTools: %s)',
    async (isRecorded) => {
      await using reprise = await openReprise('memory:');
      const session = await reprise.createSession('shop');
      const { build, paid } = inTool(new MemorySaver(), { isRecorded });
      const graph = build();
      await invoked(session, graph, question);
      const events = await eventsOf(session);
      expect(endOf(events)).toBe('waiting');
      expect(personEvents(events)).toEqual([['call.started', 'interrupt', null, { ask: 'Really?' }]]);
      const { messages } = await session.fold(conversation);
      expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant']);
      await invoked(session, graph, new Command({ resume: 'yes' }));
      const all = await eventsOf(session);
      expect(personEvents(all).at(-1)).toEqual(['call.ended', 'interrupt', null, 'yes']);
      expect([endOf(all), paid.length, await waitsOn(session)]).toEqual(['ok', 1, []]);
    },
  );

  test('is answered by a resume; an old one is answered differently on a fork', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('shop');
    const saver = new MemorySaver();
    const { build, paid } = inTool(saver, { isRecorded: true });
    await invoked(session, build(), question);
    const [asked] = await waitsOn(session);
    const { head } = await session.branch('main').locate();
    const agent = langgraphAgent(build([done]));
    await expect(session.resume(agent)).rejects.toMatchObject({ code: 'resume.waiting' });
    const first = await session.resume(agent, { answer: { [asked?.call ?? '']: 'yes' } });
    expect([first.outcome, first.text, paid.length]).toEqual(['ok', 'Refunded.', 1]);
    const branch = await session.fork(`main@${head}`, { name: 'refused' });
    const second = await branch.resume(agent, { answer: { [asked?.call ?? '']: 'no' } });
    expect([second.outcome, paid.length]).toEqual(['ok', 1]);
    expect(second.result.messages.at(-2)?.text).toBe('The clerk said no.');
  });

  test('that a resumed graph reaches ends the run waiting, and can be answered, under every policy', async () => {
    for (const effects of [undefined, 'reuse', 'run'] as const) {
      await using reprise = await openReprise('memory:');
      const session = await reprise.createSession('shop');
      const { build, paid } = inTool(new MemorySaver());
      await invoked(session, build(), question);
      const branch = await session.fork('main@2', { name: 'again' });
      const options = effects === undefined ? {} : { effects };
      const stopped = await branch.resume(langgraphAgent(build()), options);
      expect([stopped.outcome, stopped.waiting.length, paid.length]).toEqual(['waiting', 1, 0]);
      const answer = { [stopped.waiting[0]?.call ?? '']: 'yes' };
      const over = await branch.resume(langgraphAgent(build([done])), { ...options, answer });
      expect([over.outcome, over.text, over.waiting, paid.length]).toEqual(['ok', 'Refunded.', [], 1]);
    }
  });

  test('several, one after the other in one node, are answered in their order', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('forms');
    const saver = new MemorySaver();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('form', () => {
        const name = interrupt('Name?');
        const town = interrupt('Town?');
        return { messages: [new AIMessage(`${String(name)} of ${String(town)}`)] };
      })
      .addEdge(START, 'form')
      .addEdge('form', END)
      .compile({ checkpointer: saver });
    await invoked(session, graph, { messages: [new HumanMessage('Hi')] });
    const agent = langgraphAgent(graph);
    const answer = async (branch: string, said: string) => {
      const [asked] = await waitsOn(session, branch);
      return session.branch(branch).resume(agent, { answer: { [asked?.call ?? '']: said } });
    };
    expect((await answer('main', 'Ada')).outcome).toBe('waiting');
    const { head } = await session.branch('main').locate();
    expect((await answer('main', 'London')).text).toBe('Ada of London');
    await session.fork(`main@${head}`, { name: 'moved' });
    expect((await answer('moved', 'Turin')).text).toBe('Ada of Turin');
    await session.fork('main', { name: 'other' });
    expect(await waitsOn(session, 'other')).toEqual([]);
  });

  test.each(['memory', 'reprise'])('leaves alone the finished nodes beside it (saver: %s)', async (kind) => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('forms');
    let mails = 0;
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('form', () => ({ messages: [new AIMessage(`${interrupt('Name?')} of ${interrupt('Town?')}`)] }))
      .addNode('mail', () => ({ messages: [new AIMessage(`Mail ${++mails}`)] }))
      .addNode('end', ({ messages }) => ({ messages: [new AIMessage(messages.map(({ text }) => text).join('; '))] }))
      .addEdge(START, 'form')
      .addEdge(START, 'mail')
      .addEdge(['form', 'mail'], 'end')
      .compile({ checkpointer: kind === 'memory' ? new MemorySaver() : new RepriseSaver(reprise) });
    const thread = kind === 'memory' ? 'thread-1' : 'forms';
    await invoked(session, graph, { messages: [new HumanMessage('Hi')] }, thread);
    const branch = await session.fork('main', { name: 'again' });
    // The program that owns the thread goes on meanwhile.
    await invoked(session, graph, new Command({ resume: 'Ada' }), thread);
    await invoked(session, graph, new Command({ resume: 'London' }), thread);
    const answer = async (said: string) => {
      const [asked] = await waitsOn(session, 'again');
      return branch.resume(langgraphAgent(graph), { answer: { [asked?.call ?? '']: said } });
    };
    expect((await answer('Bob')).outcome).toBe('waiting');
    expect((await answer('Turin')).text).toBe('Hi; Bob of Turin; Mail 1');
    expect(mails).toBe(1);
  });

  test('inside a tool beside an answered one is answered in the graph, where the tool is called once', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('shop');
    const { refund } = cashDesk(() => interrupt({ ask: 'Really?' }));
    const look = tool(async () => 'seen', { name: 'look', description: 'Looks.', schema });
    const tools = recordTools([look, refund]);
    const calls = [asks('look', { order: 7 }, 'c0'), asksRefund].flatMap(({ tool_calls = [] }) => tool_calls);
    const llm = new ScriptedChatModel([new AIMessage({ content: '', tool_calls: calls }), done]);
    const graph = createReactAgent({ llm, tools, checkpointer: new MemorySaver(), version: 'v2' });
    await invoked(session, graph, question);
    const branch = await session.fork('main', { name: 'yes' });
    const [asked] = await waitsOn(session);
    const agent = langgraphAgent(graph, { tools });
    const { text } = await branch.resume(agent, { answer: { [asked?.call ?? '']: 'yes' } });
    const made = (await eventsOf(session, 'yes')).slice(branch.head);
    const ends = made.filter(({ type, data }) => type === 'call.ended' && data['kind'] === 'tool');
    expect(text).toBe('Refunded.');
    expect(ends.map(({ data }) => [data['name'], data['outcome']])).toEqual([['refund', 'ok']]);
  });

  test('with the saver of Reprise, everything stays in the session of the thread', async () => {
    await using reprise = await openReprise('memory:');
    const saver = new RepriseSaver(reprise);
    const session = await reprise.createSession('shop');
    const { build, paid } = inTool(saver, { isRecorded: true });
    await invoked(session, build(), question, 'shop');
    const [asked] = await waitsOn(session);
    const branch = await session.fork('main', { name: 'yes' });
    const agent = langgraphAgent(build([done]));
    const { outcome, text } = await branch.resume(agent, { answer: { [asked?.call ?? '']: 'yes' } });
    expect([outcome, text, paid.length]).toEqual(['ok', 'Refunded.', 1]);
    const more = await branch.resume(langgraphAgent(build([new AIMessage('Bye.')])), { prompt: 'Thanks.' });
    expect(more.result.messages.map((message) => message.text)).toEqual([
      'Refund order 7.',
      '',
      'paid',
      'Refunded.',
      'Thanks.',
      'Bye.',
    ]);
    expect(await sessionsOf(reprise)).toEqual(['shop']);
  });

  test('with any other saver, a resume leaves one thread, which is named after the branch', async () => {
    await using reprise = await openReprise('memory:');
    const saver = new RepriseSaver(reprise);
    const session = await reprise.createSession('shop');
    const { build } = inTool(saver);
    await invoked(session, build([done]), question, 'elsewhere');
    const branch = await session.fork('main@2', { name: 'again' });
    await branch.resume(langgraphAgent(build([done])));
    await branch.resume(langgraphAgent(build([done])), { prompt: 'And now?' });
    const named = expect.stringMatching(/^shop\.again\.[0-9a-f]{32}$/);
    expect(await sessionsOf(reprise)).toEqual(['elsewhere', 'shop', named]);
  });

  test('whose checkpoint is gone cannot be answered, and says so', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('shop');
    await invoked(session, inTool(new MemorySaver()).build(), question);
    const [asked] = await waitsOn(session);
    const agent = langgraphAgent(inTool(new MemorySaver()).build([done]));
    const resumed = session.resume(agent, { answer: { [asked?.call ?? '']: 'yes' } });
    await expect(resumed).rejects.toMatchObject({ code: 'agent.invalid', hint: expect.stringContaining('saver') });
  });
});

describe('the thread of a branch', () => {
  const State = Annotation.Root({
    ...MessagesAnnotation.spec,
    notes: Annotation<string[]>({ reducer: (held, more) => [...held, ...more], default: () => [] }),
  });
  const noting = (checkpointer: MemorySaver | RepriseSaver) =>
    new StateGraph(State)
      .addNode('note', ({ messages, notes }) => ({
        notes: [String(messages.at(-1)?.text)],
        messages: [new AIMessage(`I had ${notes.join(', ') || 'no notes'}.`)],
      }))
      .addEdge(START, 'note')
      .compile({ checkpointer });
  const said = async (branch: Branch, graph: ReturnType<typeof noting>, prompt?: string): Promise<string> =>
    (await branch.resume(langgraphAgent(graph), prompt === undefined ? {} : { prompt })).text;
  const asked = async (reprise: Reprise, id: string, text: string): Promise<Session> => {
    const session = await reprise.createSession(id);
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: text } } });
    return session;
  };

  test('keeps its state while the branch grows, and not what a rewind or a deletion took away', async () => {
    await using reprise = await openReprise('memory:');
    const graph = noting(new MemorySaver());
    const session = await asked(reprise, 'shop', 'one');
    const fork = () => session.fork('main@1', { name: 'again' });
    const branch = await fork();
    expect(await said(branch, graph)).toBe('I had no notes.');
    expect(await said(branch, graph, 'two')).toBe('I had one.');
    await session.branch('again').rewind(branch.head);
    expect(await said(branch, graph)).toBe('I had no notes.');
    await session.deleteBranch('again', { confirm: 'again' });
    expect(await said(await fork(), graph)).toBe('I had no notes.');
  });

  test('is its own in every namespace and session, whatever their names are', async () => {
    await using reprise = await openReprise('memory:');
    const graph = noting(new MemorySaver());
    const inA = await asked(reprise.namespace('a'), 'x', 'secret of a');
    const inB = await asked(reprise.namespace('b'), 'x', 'b');
    const dotted = await asked(reprise.namespace('b'), 'x.y', 'dotted');
    const branches = [
      await inA.fork('main', { name: 'y.z' }),
      await inB.fork('main', { name: 'y.z' }),
      await dotted.fork('main', { name: 'z' }),
    ];
    for (const branch of branches) expect(await said(branch, graph)).toBe('I had no notes.');
  });

  test('is not the session of that name in the namespace of the saver', async () => {
    await using reprise = await openReprise('memory:');
    const graph = noting(new RepriseSaver(reprise));
    await graph.invoke({ messages: [new HumanMessage('secret')] }, { configurable: { thread_id: 'shop' } });
    const session = await asked(reprise.namespace('b'), 'shop', 'b');
    expect(await said(session.branch('main'), graph)).toBe('I had no notes.');
  });
});

describe('createAgent() with humanInTheLoopMiddleware', () => {
  // Declared in a form that exactOptionalPropertyTypes refuses.
  const review = humanInTheLoopMiddleware({ interruptOn: { refund: true } } as never);
  const build = (refund: ReturnType<typeof cashDesk>['refund'], saver: MemorySaver, answers = [asksRefund, done]) =>
    createAgent({
      model: new ScriptedChatModel(answers),
      tools: [refund],
      middleware: [review as never],
      checkpointer: saver,
    });

  test.each(['after it waited', 'before it waited'])('a fork %s never pays unless a person approves', async (when) => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('shop');
    const { refund, paid } = cashDesk();
    const saver = new MemorySaver();
    await invoked(session, build(refund, saver), question);
    const events = await eventsOf(session);
    expect(endOf(events)).toBe('waiting');
    const answered = events.find(({ type, data }) => type === 'call.ended' && data['kind'] === 'model');
    const point = when === 'after it waited' ? 'main' : `main@${answered?.seq}`;
    const branch = await session.fork(point, { name: 'again' });
    const agent = langgraphAgent(build(refund, saver, [done]), { tools: [refund] });
    if (when === 'after it waited')
      await expect(branch.resume(agent)).rejects.toMatchObject({ code: 'resume.waiting' });
    else expect((await branch.resume(agent)).outcome).toBe('waiting');
    expect(paid).toEqual([]);
    const [asked] = await waitsOn(session, 'again');
    const no = await (await session.branch('again').fork({ name: 'no' })).resume(agent, {
      deny: [{ call: asked?.call ?? '', reason: 'Too late' }],
    });
    expect([no.outcome, paid]).toEqual(['ok', []]);
    const { messages } = no.result as { readonly messages: readonly BaseMessage[] };
    expect(messages.map((message) => message.text)).toContain('Too late');
    const yes = await branch.resume(agent, { approve: [asked?.call ?? ''] });
    expect([yes.outcome, yes.text, paid]).toEqual(['ok', 'Refunded.', [{ order: 7 }]]);
  });
});
