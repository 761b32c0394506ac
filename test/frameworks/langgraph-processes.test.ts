/** Graphs of LangGraph on one store, in processes that die, and over many turns. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { RepriseSaver } from '../../src/langgraph.ts';
import { fewOrAll } from '../how-many.ts';

let directory = '';
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-processes-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const thread = { configurable: { thread_id: 't' } };

const chat = (checkpointer: BaseCheckpointSaver) =>
  new StateGraph(
    Annotation.Root({
      ...MessagesAnnotation.spec,
      fixed: Annotation<string>(),
      notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
      book: Annotation<{ readonly pages: readonly string[] }>(),
    }),
  )
    .addNode('a', ({ messages, book }) => ({
      messages: [new AIMessage(`answer ${messages.length} ${'x'.repeat(200)}`)],
      notes: [`note ${messages.length} ${'n'.repeat(200)}`],
      book: { pages: [...(book?.pages ?? []), `page ${messages.length} ${'z'.repeat(100)}`] },
    }))
    .addEdge(START, 'a')
    .addEdge('a', END)
    .compile({ checkpointer });

describe('RepriseSaver in several processes', () => {
  const child = fileURLToPath(new URL('./langgraph-child.ts', import.meta.url));
  const run = (args: readonly string[]) =>
    spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', child, ...args], { encoding: 'utf8' });

  const kills: readonly (readonly [verb: string, when: string, times: number])[] = [
    ['putWrites', 'before', 2],
    ['put', 'after', 2],
    ['putWrites', 'after', 2],
    ['put', 'before', 4],
  ];

  test.each(fewOrAll(kills.slice(0, 1), kills))(
    'killed around %s (%s, %i): the next process goes on, and repeats nothing it had stored',
    async (...where) => {
      const store = `sqlite:${join(directory, `${files++}.db`)}`;
      const log = join(directory, `${files++}.log`);
      const killed = run([store, log, ...where.map(String)]);
      expect(killed.signal).toBe('SIGKILL');
      const { stdout, stderr } = run([store, log]);
      expect(stdout, stderr).toBe('hi > one > two > three\n');
      const nodes = readFileSync(log, 'utf8').trimEnd().split('\n');
      // Only what was on its way at the moment of death may run once more.
      expect(nodes.length).toBeLessThanOrEqual(4);
      await using reprise = await openReprise(store);
      const session = await reprise.session('t');
      expect((await session.tree()).children).toEqual([]);
      expect((await session.verify()).ok).toBe(true);
    },
  );

  test('two handles on one file see what the other saved, and go on from it', async () => {
    const store = `sqlite:${join(directory, `${files++}.db`)}`;
    await using first = await openReprise(store);
    await using second = await openReprise(store);
    const graphs = [first, second].map((reprise) => chat(new RepriseSaver(reprise)));
    for (let turn = 0; turn < 4; turn++)
      await graphs[turn % 2]?.invoke({ messages: [new HumanMessage({ id: `q${turn}`, content: 'hi' })] }, thread);
    for (const graph of graphs) {
      const { values } = await graph.getState(thread);
      expect((values as { messages: BaseMessage[] }).messages).toHaveLength(8);
    }
    expect((await (await first.session('t')).tree()).children).toEqual([]);
  });
});

describe('what a growing conversation takes', () => {
  /** Bytes that a chat of so many turns takes, by one process or by one for every turn. */
  async function bytesOf(turns: number, processes: 'one' | 'many'): Promise<number> {
    const path = join(directory, `${files++}.db`);
    let reprise = await openReprise(`sqlite:${path}`);
    let graph = chat(new RepriseSaver(reprise));
    for (let turn = 0; turn < turns; turn++) {
      if (processes === 'many' && turn > 0) {
        await reprise.close();
        reprise = await openReprise(`sqlite:${path}`);
        graph = chat(new RepriseSaver(reprise));
      }
      const fixed = turn === 0 ? { fixed: 'unchanged '.repeat(5_000) } : {};
      await graph.invoke({ messages: [new HumanMessage(`question ${turn} ${'y'.repeat(200)}`)], ...fixed }, thread);
    }
    await reprise.close();
    return statSync(path).size;
  }

  test.each(['one', 'many'] as const)(
    'twice the turns are about twice the bytes, with %s process',
    async (processes) => {
      const [small, large] = [await bytesOf(25, processes), await bytesOf(50, processes)];
      expect(large / small).toBeLessThan(2.2);
      // 50 kB that never change are there once, as a value and as what was written.
      expect(large).toBeLessThan(50 * 30_000);
    },
  );
});
