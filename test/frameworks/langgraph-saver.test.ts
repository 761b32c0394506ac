/** Graphs of LangGraph on our store: what its own suite for savers does not ask. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
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
import { type BaseCheckpointSaver, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphState, openReprise, type Reprise, type Session } from '../../src/index.ts';
import { RepriseSaver } from '../../src/langgraph.ts';

let directory = '';
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-saver-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const stores: Readonly<Record<string, () => string>> = {
  memory: () => 'memory:',
  sqlite: () => `sqlite:${join(directory, `${files++}.db`)}`,
};

const thread = { configurable: { thread_id: 't' } };
const say = (text: string) => () => ({ messages: [new AIMessage(text)] });
const textsOf = (state: { messages: BaseMessage[] }): string =>
  state.messages.map(({ content }) => String(content)).join(' > ');

/** Two nodes, of which the second answers to what the first said. */
const story = () =>
  new StateGraph(MessagesAnnotation)
    .addNode('a', say('one'))
    .addNode('b', ({ messages }) => ({ messages: [new AIMessage(`after ${String(messages.at(-1)?.content)}`)] }))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', END);

type Told = Awaited<ReturnType<typeof told>>;

/** A graph that ran once, and where it stood before `b`. */
async function told(reprise: Reprise) {
  const saver = new RepriseSaver(reprise);
  const graph = story().compile({ checkpointer: saver });
  const result = await graph.invoke({ messages: [new HumanMessage('hi')] }, thread);
  const history = await Array.fromAsync(graph.getStateHistory(thread));
  const before = history.find(({ next }) => next[0] === 'b');
  if (before === undefined) throw new Error('The graph was never before b');
  return { saver, graph, result, history, before, session: await reprise.session('t') };
}

async function edited({ graph, before }: Told, text = 'EDITED') {
  const id = String((before.values.messages[1] as BaseMessage).id);
  const config = await graph.updateState(before.config, { messages: [new AIMessage({ id, content: text })] }, 'a');
  return { config, result: await graph.invoke(null, config) };
}

const branchesOf = async (session: Session): Promise<string[]> => {
  const names: string[] = [];
  const nodes = [await session.tree()];
  for (const node of nodes) {
    names.push(node.branch);
    nodes.push(...node.children);
  }
  return names;
};

describe.each(Object.keys(stores))('RepriseSaver on %s', (name) => {
  const open = () => openReprise((stores[name] as () => string)());

  test('a fork by updateState() reads its own values, and the original keeps its own', async () => {
    await using reprise = await open();
    const it = await told(reprise);
    expect(textsOf(it.result)).toBe('hi > one > after one');
    const forked = await edited(it);
    expect(textsOf(forked.result)).toBe('hi > EDITED > after EDITED');
    const again = await Array.fromAsync(it.graph.getStateHistory(thread));
    for (const state of it.history) {
      const kept = again.find(
        ({ config }) => config.configurable?.['checkpoint_id'] === state.config.configurable?.['checkpoint_id'],
      );
      expect(kept && textsOf(kept.values as { messages: BaseMessage[] })).toBe(textsOf(state.values));
    }
  });

  test('a fork of LangGraph is a branch: tree, diff and verify know it, and main is as it was', async () => {
    await using reprise = await open();
    const it = await told(reprise);
    const head = await it.session.locate();
    const { config } = await edited(it);
    const [main = '', forked = '', ...more] = await branchesOf(it.session);
    expect([main, more]).toEqual(['main', []]);
    expect(await it.session.locate()).toEqual(head);
    expect((await it.saver.pointOf(config))?.branch).toBe(forked);
    const point = await it.saver.pointOf(it.before.config);
    expect((await it.session.branch(forked).locate()).parent).toEqual(point);
    const diff = await reprise.diff('t', `t/${forked}`);
    expect(diff.forkPoint?.seq).toBe(point?.seq);
    expect(diff.identical).toBe(false);
    for (const branch of [main, forked]) expect((await it.session.branch(branch).verify()).ok).toBe(true);
  });

  test('a rewind of the session is an undo for the graph, and a redo brings it back', async () => {
    await using reprise = await open();
    const it = await told(reprise);
    const point = await it.saver.pointOf(it.before.config);
    await it.session.rewind(point?.seq ?? 0);
    expect((await it.graph.getState(thread)).next).toEqual(['b']);
    expect(await Array.fromAsync(it.graph.getStateHistory(thread))).toHaveLength(it.history.length - 1);
    await it.session.redo();
    expect(textsOf((await it.graph.getState(thread)).values as { messages: BaseMessage[] })).toBe(textsOf(it.result));
    await it.session.rewind(point?.seq ?? 0);
    expect(textsOf(await it.graph.invoke(null, thread))).toBe('hi > one > after one');
    expect(await branchesOf(it.session)).toEqual(['main']);
  });

  test('a branch forked with an edit is what the graph goes on from, and writes to', async () => {
    await using reprise = await open();
    const it = await told(reprise);
    const point = await it.saver.pointOf(it.before.config);
    const events = await Array.fromAsync(it.session.at(`main@${point?.seq}`).replay());
    const held = events.findLast(({ type, data }) => type === 'channel.saved' && data['channel'] === 'messages');
    if (held === undefined) throw new Error('No messages were saved');
    const items = (held.data['items'] as string[]).map((text) => text.replace('"one"', '"REPLACED"'));
    await it.session.fork(`main@${point?.seq}`, {
      name: 'what-if',
      edits: [{ kind: 'replace', seq: held.seq, event: { data: { ...held.data, items } } }],
    });
    const config = await it.saver.configAt('t', 'what-if');
    expect(textsOf(await it.graph.invoke(null, config))).toBe('hi > REPLACED > after REPLACED');
    expect(textsOf((await it.graph.getState(it.before.config)).values as { messages: BaseMessage[] })).toBe('hi > one');
    expect(await branchesOf(it.session)).toEqual(['main', 'what-if']);
    const { '': end } = await it.session.at('what-if').fold(graphState);
    expect(JSON.stringify(end?.values)).toContain('after REPLACED');
    expect(JSON.stringify((await it.session.fold(graphState))['']?.values)).not.toContain('REPLACED');
  });

  test('a branch that does not exist is named in the error', async () => {
    await using reprise = await open();
    const { graph } = await told(reprise);
    const config = { configurable: { thread_id: 't', reprise_branch: 'nowhere' } };
    await expect(graph.getState(config)).rejects.toMatchObject({ code: 'branch.not-found' });
  });

  test('deleteThread() deletes the session, all of it, and a thread that is not there is no error', async () => {
    await using reprise = await open();
    const { saver, session, graph } = await told(reprise);
    await session.append({ type: 'note.added', data: { text: 'beside it' } });
    await saver.deleteThread('t');
    await expect(reprise.session('t')).rejects.toMatchObject({ code: 'session.not-found' });
    expect((await graph.getState(thread)).values).toEqual({});
    await saver.deleteThread('t');
    expect(textsOf(await graph.invoke({ messages: [new HumanMessage('hi')] }, thread))).toBe('hi > one > after one');
  });

  test('a thread that cannot be a session is refused, "latest" most of all', async () => {
    await using reprise = await open();
    const { graph } = await told(reprise);
    for (const thread_id of ['latest', 'a\u0000b', '', 7 as unknown as string]) {
      const told = graph.invoke({ messages: [new HumanMessage('hi')] }, { configurable: { thread_id } });
      await expect(told).rejects.toMatchObject({ code: 'id.invalid' });
    }
    expect(await Array.fromAsync(reprise.sessions())).toHaveLength(1);
  });

  test('values come back byte for byte: keys in their order, binary, sets, text that is not canonical', async () => {
    await using reprise = await open();
    const saver = new RepriseSaver(reprise);
    const values: Record<string, unknown> = {
      order: { b: 1, a: { '10': 1, '9': 2, ['__proto__x']: 3 } },
      list: [{ z: 1, a: 2 }, 'ünï\ud83d\ude00', '\ud800 alone', null, 1e21, -0.5, []],
      bytes: new Uint8Array([0, 255, 128, 10]),
      long: { text: 'x'.repeat(5_000), and: ['y'.repeat(5_000)] },
      set: new Set(['b', 'a']),
      map: new Map([['k', new Set([1])]]),
      nothing: null,
      deep: JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`),
    };
    const versions = Object.fromEntries(Object.keys(values).map((key) => [key, 1]));
    const checkpoint = { ...emptyCheckpoint(), channel_values: values, channel_versions: versions };
    const config = await saver.put(thread, checkpoint, { source: 'input', step: -1, parents: {} }, versions);
    await saver.putWrites(config, Object.entries(values), 'task');
    const tuple = await new RepriseSaver(reprise).getTuple(config);
    const bytes = async (value: unknown) => {
      const [type, held] = await saver.serde.dumpsTyped(value);
      return `${type} ${Buffer.from(held).toString('latin1')}`;
    };
    for (const [key, value] of Object.entries(values)) {
      expect(await bytes(tuple?.checkpoint.channel_values[key])).toBe(await bytes(value));
      expect(await bytes(tuple?.pendingWrites?.find(([, channel]) => channel === key)?.[2])).toBe(await bytes(value));
    }
  });

  test('writes that arrive before their checkpoint are there once it is', async () => {
    await using reprise = await open();
    const saver = new RepriseSaver(reprise);
    const metadata = { source: 'loop', step: 0, parents: {} } as const;
    const first = await saver.put(thread, emptyCheckpoint(), metadata, {});
    const next = { ...emptyCheckpoint(), id: uuid6(1) };
    const config = { configurable: { ...first.configurable, checkpoint_id: next.id } };
    await Promise.all([
      saver.putWrites(config, [['messages', 'early']], 'task'),
      saver.put(first, next, metadata, {}),
      saver.putWrites(config, [['messages', 'again']], 'task'),
    ]);
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([['task', 'messages', 'early']]);
    expect(await branchesOf(await reprise.session('t'))).toEqual(['main']);
  });

  test('a value that was erased says so, and what does not hold it can still be gone on from', async () => {
    await using reprise = await open();
    const it = await told(reprise);
    const point = await it.saver.pointOf(thread);
    await it.session.erase(`main@${(point?.seq ?? 0) - 1}`, { reason: 'personal data' });
    await expect(it.graph.getState(thread)).rejects.toMatchObject({ code: 'event.not-found' });
    const first = it.history.at(-1);
    expect((await it.graph.getState(first?.config ?? {})).next).toEqual(['__start__']);
  });
});

describe('RepriseSaver beside the saver in memory that LangGraph ships', () => {
  const inner = new StateGraph(MessagesAnnotation)
    .addNode('ask', () => ({ messages: [new AIMessage(`answer: ${String(interrupt('Which?'))}`)] }))
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile();
  const State = Annotation.Root({
    ...MessagesAnnotation.spec,
    seen: Annotation<string[]>({ reducer: (a, b) => [...a, ...b].sort(), default: () => [] }),
    fixed: Annotation<Record<string, string>>(),
  });
  const build = (checkpointer: BaseCheckpointSaver) =>
    new StateGraph(State)
      .addNode('left', () => ({ seen: ['left'], messages: [new AIMessage({ id: 'left', content: 'left' })] }))
      .addNode('right', () => ({ seen: ['right'] }))
      .addNode('inner', inner)
      .addNode('last', ({ seen }) => ({ seen: [`last of ${seen.length}`] }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .addEdge('left', 'inner')
      .addEdge('right', 'inner')
      .addEdge('inner', 'last')
      .addEdge('last', END)
      .compile({ checkpointer });

  /** Everything a graph says about its past, without ids and clocks. */
  async function historyOf(graph: ReturnType<typeof build>) {
    const states = await Array.fromAsync(graph.getStateHistory(thread));
    const places = new Map(
      states.map(({ config }, at) => [config.configurable?.['checkpoint_id'], states.length - at]),
    );
    return states.map(({ values, next, metadata, config, parentConfig, tasks }) => ({
      at: places.get(config.configurable?.['checkpoint_id']),
      parent: places.get(parentConfig?.configurable?.['checkpoint_id']),
      values: { ...values, messages: values['messages']?.map((message: BaseMessage) => message.content) },
      next,
      source: metadata?.source,
      number: metadata?.step,
      tasks: tasks.map(({ name, interrupts }) => [name, interrupts.map(({ value }) => value)]),
    }));
  }

  async function scenario(checkpointer: BaseCheckpointSaver) {
    const graph = build(checkpointer);
    const said: unknown[] = [];
    const note = async (told: Promise<unknown>) =>
      said.push((await told) === undefined ? null : await historyOf(graph));
    await note(graph.invoke({ messages: [new HumanMessage({ id: 'q', content: 'hi' })], fixed: { a: 'x' } }, thread));
    await note(graph.invoke(new Command({ resume: 'this' }), thread));
    const past = await Array.fromAsync(graph.getStateHistory(thread));
    const parallel = past.find(({ next }) => next.includes('right'));
    const waiting = past.find(({ next }) => next[0] === 'inner');
    if (parallel === undefined || waiting === undefined) throw new Error('The story is another one');
    await note(graph.updateState(parallel.config, { seen: ['edited'] }, 'right'));
    await note(graph.invoke(null, parallel.config));
    await note(graph.updateState(waiting.config, null, '__copy__'));
    await note(graph.invoke(new Command({ resume: 'that' }), thread));
    await note(graph.updateState((past.at(-1) as (typeof past)[0]).config, null, '__copy__'));
    await note(
      graph.invoke({ messages: [new HumanMessage({ id: 'r', content: 'again' })] }, { ...thread, durability: 'exit' }),
    );
    await note(graph.invoke(new Command({ resume: 'those' }), { ...thread, durability: 'sync' }));
    return said;
  }

  test('says the same of every state after forks, copies, interrupts, subgraphs and every durability', async () => {
    await using reprise = await openReprise('memory:');
    const saver = new RepriseSaver(reprise);
    const [ours, theirs] = [await scenario(saver), await scenario(new MemorySaver())];
    expect(ours).toEqual(theirs);
    expect(ours).toHaveLength(9);
    const session = await reprise.session('t');
    for (const branch of await branchesOf(session)) expect((await session.branch(branch).verify()).ok).toBe(true);
  });
});

describe('a saver that masks', () => {
  const key = `sk-proj-${'aB3dE5gH7j'.repeat(4)}`;

  test('stores masks; the run itself has its secrets, and a graph that loads the thread gets the masks', async () => {
    await using reprise = await openReprise('memory:');
    const seen: string[] = [];
    const graph = () =>
      new StateGraph(MessagesAnnotation)
        .addNode('look', ({ messages }) => {
          seen.push(String(messages[0]?.content));
          return { messages: [new AIMessage('Seen.')] };
        })
        .addEdge(START, 'look')
        .addEdge('look', END)
        .compile({ checkpointer: new RepriseSaver(reprise, undefined, { masks: true }) });
    await graph().invoke({ messages: [new HumanMessage(`It is ${key}.`)] }, thread);
    await graph().invoke({ messages: [new HumanMessage('And now?')] }, thread);
    expect(seen).toEqual([`It is ${key}.`, expect.stringMatching(/^It is \[masked openai-key [0-9a-f-]+\]\.$/)]);
    const { values, next } = await graph().getState(thread);
    expect([(values as { messages: BaseMessage[] }).messages.length, next]).toEqual([4, []]);
    const session = await reprise.session('t');
    const events = await Array.fromAsync(session.replay());
    expect(JSON.stringify(events)).not.toContain('aB3dE5gH7j');
    expect(events.some(({ data }) => JSON.stringify(data['masked']) === '["openai-key"]')).toBe(true);
  });

  test('leaves the names, ids and versions of channels as they are, whatever they are called', async () => {
    await using reprise = await openReprise('memory:');
    const State = Annotation.Root({ token: Annotation<string>(), secret: Annotation<number>() });
    const graph = new StateGraph(State)
      .addNode('set', () => ({ token: 'plain', secret: 12_345_678 }))
      .addEdge(START, 'set')
      .addEdge('set', END)
      .compile({ checkpointer: new RepriseSaver(reprise, undefined, { masks: true }) });
    await graph.invoke({ token: 'first' }, thread);
    const { values, config } = await graph.getState(thread);
    expect(values).toEqual({ token: expect.stringMatching(/^\[masked/), secret: expect.stringMatching(/^\[masked/) });
    await graph.updateState(config, { token: 'second' });
    expect((await Array.fromAsync(graph.getStateHistory(thread))).length).toBeGreaterThan(3);
  });

  test('refuses an option that it does not have', async () => {
    await using reprise = await openReprise('memory:');
    expect(() => new RepriseSaver(reprise, undefined, { mask: true } as never)).toThrow(
      expect.objectContaining({ code: 'option.invalid', hint: expect.stringContaining('masks') }),
    );
  });
});
