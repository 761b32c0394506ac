/** The peer: LangGraph.js with its SQLite saver. A graph adds one message of 600 B a step; the log keeps the same. */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import Better from 'better-sqlite3';
import type { JsonObject } from '../src/index.ts';
import { atLeast, bytes, median, minimum, type Row, time, timeEach } from './measure.ts';
import { payloads } from './workload.ts';
import { open, remove, settledBytes, type Workspace } from './workspace.ts';

interface Costs {
  readonly step: number;
  readonly size: number;
  readonly history: number;
  readonly fork: number;
}

const forksEach = 5;
const partCause =
  'a message of 512 B or more is stored as a part: three rows with four index entries, two of them at random places, instead of one row with two.';

interface Judging {
  /** The least of the rounds where the disk is waited for, else their median. */
  readonly of: (values: readonly number[]) => number;
  readonly format: (value: number) => string;
  readonly cause: string;
}

/** Rows of the peer. */
export async function benchLangGraph(workspace: Workspace): Promise<Row[]> {
  const { steps, isQuick, rounds } = workspace.sizes;
  await runGraph(workspace, 10);
  await runLog(workspace, 10);
  const graph: Costs[] = [];
  const log: Costs[] = [];
  for (let round = 0; round < (isQuick ? 1 : rounds); round++) {
    log.push(await runLog(workspace, steps));
    graph.push(await runGraph(workspace, steps));
  }
  const row = (name: string, key: keyof Costs, limit: number, { of, format, cause }: Judging): Row => {
    const [theirs, ours] = [of(graph.map((costs) => costs[key])), of(log.map((costs) => costs[key]))];
    return atLeast({
      name: `LangGraph.js + SQLite saver at ${steps.toLocaleString('en')} steps: ${name}`,
      value: theirs / ours,
      limit,
      unit: '×',
      detail: `${format(ours)} against ${format(theirs)}`,
      cause,
    });
  };
  return [
    row('time a step', 'step', 15, { of: minimum, format: time, cause: `one synced commit; ${partCause}` }),
    row('bytes on disk', 'size', 300, { of: median, format: bytes, cause: partCause }),
    row('whole history', 'history', 500, {
      of: median,
      format: time,
      cause: `parts are read apart from events; ${partCause}`,
    }),
    row('fork in the middle', 'fork', 25, {
      of: minimum,
      format: time,
      cause: 'one synced commit, after the place, its digest, its metadata and a free name were looked up.',
    }),
  ];
}

async function runGraph(workspace: Workspace, steps: number): Promise<Costs> {
  const directory = workspace.path('langgraph');
  mkdirSync(directory);
  // The saver asks for better-sqlite3 12, which aborts on Node 24.19 and later: it is given a handle of version 13.
  const handle = new Better(join(directory, 'graph.db'));
  const saver = new SqliteSaver(handle as ConstructorParameters<typeof SqliteSaver>[0]);
  try {
    return await runSteps(saver, handle, directory, steps);
  } finally {
    handle.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runSteps(saver: SqliteSaver, handle: Better, directory: string, steps: number): Promise<Costs> {
  const messages = payloads(steps + forksEach, 600);
  const State = Annotation.Root({
    messages: Annotation<JsonObject[]>({ reducer: (held, added) => [...held, ...added], default: () => [] }),
    count: Annotation<number>({ reducer: (_, added) => added, default: () => 0 }),
  });
  const graph = new StateGraph(State)
    .addNode('work', (state) => ({ messages: [messages[state.count] as JsonObject], count: state.count + 1 }))
    .addEdge(START, 'work')
    .addConditionalEdges('work', (state) => (state.count < steps ? 'work' : END))
    .compile({ checkpointer: saver });
  const config = { configurable: { thread_id: 'bench' }, recursionLimit: steps + 10 };
  const step = await timeEach(steps, async () => {
    // As durable as ours.
    handle.pragma('synchronous = FULL');
    await graph.invoke({ count: 0 }, config);
  });
  const places: (typeof config)[] = [];
  const history = await timeEach(1, async () => {
    for await (const state of graph.getStateHistory(config)) places.push(state.config as typeof config);
  });
  const middle = places[places.length >> 1] as typeof config;
  const forks: number[] = [];
  for (let index = 0; index < forksEach; index++) {
    const added = { messages: [messages[steps + index] as JsonObject] };
    forks.push(await timeEach(1, () => graph.updateState(middle, added, 'work')));
  }
  handle.pragma('wal_checkpoint(TRUNCATE)');
  const size = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  return { step, size, history, fork: minimum(forks) };
}

async function runLog(workspace: Workspace, steps: number): Promise<Costs> {
  const path = workspace.path('log.db');
  const messages = payloads(steps + forksEach, 600);
  const event = (index: number) => ({
    type: 'message.added',
    data: { message: { role: 'assistant', content: messages[index] as JsonObject } },
  });
  const costs = { step: 0, history: 0 };
  const forks: number[] = [];
  {
    await using opened = await open(path, 'disk');
    const { session } = opened;
    costs.step = await timeEach(steps, async () => {
      for (let index = 0; index < steps; index++) await session.append(event(index));
    });
    costs.history = await timeEach(1, async () => {
      let seen = 0;
      for await (const held of session.replay()) seen = held.seq;
      if (seen !== steps) throw new Error(`Saw ${seen} of ${steps} events`);
    });
    for (let index = 0; index < forksEach; index++) {
      const edits = [{ kind: 'append', event: event(steps + index) }] as const;
      forks.push(await timeEach(1, () => session.at({ seq: steps >> 1 }).fork({ edits })));
    }
  }
  const size = settledBytes(path);
  remove(path);
  return { ...costs, size, fork: minimum(forks) };
}
