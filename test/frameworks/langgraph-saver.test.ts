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
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openReprise, RepriseError, type Reprise, type Session } from '../../src/index.ts';
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
  const { id } = before.values.messages[1] as BaseMessage;
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
      const kept = again.find(({ config }) => config.configurable?.['checkpoint_id'] === state.config.configurable?.['checkpoint_id']);
      expect(kept && textsOf(kept.values as { messages: BaseMessage[] })).toBe(textsOf(state.values));
    }
  });

  test('a fork of LangGraph is a branch: tree, diff and verify know it, and main is as it was', async () => {
    await using reprise = await open();
    const it = await told(reprise);
    const head = await it.session.locate('main');
    const { config } = await edited(it);
    const [main, forked, ...more] = await branchesOf(it.session);
    expect([main, more]).toEqual(['main', []]);
    expect(await it.session.locate('main')).toEqual(head);
    expect((await it.saver.pointOf(config))?.branch).toBe(forked);
    const point = await it.saver.pointOf(it.before.config);
    expect((await it.session.branch(forked)).parent).toEqual(point);
    const diff = await reprise.diff('t', `t/${forked}`);
    expect(diff.forkPoint?.seq).toBe(point?.seq);
    expect(diff.identical).toBe(false);
    for (const branch of [main, forked]) expect((await it.session.verify({ branch: branch as string })).ok).toBe(true);
  });
});
