/** Every place in which an adapter or the saver can put text, with the real frameworks, each with a plant of its own. */
import { createOpenAI } from '@ai-sdk/openai';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool as langChainTool } from '@langchain/core/tools';
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { emptyCheckpoint } from '@langchain/langgraph-checkpoint';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { Agent, OpenAIProvider, tool as openaiTool, Runner, setTracingDisabled } from '@openai/agents';
import { tool as aiTool, jsonSchema, stepCountIs } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';
import { recordAiSdk } from '../../src/ai-sdk.ts';
import {
  type JsonObject,
  type JsonValue,
  type Recorder,
  type Reprise,
  recordFunction,
  type Session,
} from '../../src/index.ts';
import { RepriseCallbackHandler, RepriseSaver, recordTools } from '../../src/langgraph.ts';
import { recordTransport } from '../../src/mcp.ts';
import { recordAgent, recordModels } from '../../src/openai-agents.ts';
import { openModelServer } from '../../src/testing.ts';
import { Script, worlds } from './adapter-worlds.ts';
import { clientWorlds } from './client-worlds.ts';
import { type Plant, type Planted, plantIn } from './planted-secrets.ts';
import { ScriptedChatModel } from './scripted-chat-model.ts';

/** A question, a tool that the model asks for, its result, an answer. */
interface Story {
  readonly system: string;
  readonly question: string;
  readonly input: JsonObject;
  readonly output: JsonValue | Error;
  readonly answer: string;
  /** Options of the framework's own call. */
  readonly options: JsonObject;
}

const plain: Story = {
  system: 'Be brief.',
  question: 'How is order 7?',
  input: { order: 7 },
  output: { ok: true },
  answer: 'Fine.',
  options: {},
};

type Tell = (recorder: Recorder, story: Story) => Promise<unknown>;

/** A server that speaks for the model: it asks for the tool, then it answers. */
const modelOf = ({ input, answer }: Story, name = 'act') =>
  openModelServer([
    { when: { answered: name }, reply: { text: [answer] } },
    { reply: { toolCalls: [{ name, id: 'call_1', input }] } },
  ]);

const resultOf = ({ output }: Story): JsonValue => {
  if (output instanceof Error) throw output;
  return output;
};

const anything = { type: 'object' as const, properties: {}, required: [] as string[], additionalProperties: true };

const aiSdk =
  (protocol: 'chat' | 'responses', verb: 'generateText' | 'streamText'): Tell =>
  async (recorder, story) => {
    await using server = await modelOf(story);
    const openai = createOpenAI({ baseURL: server.url, apiKey: 'none' });
    const ai = recordAiSdk(recorder);
    const call = {
      model: protocol === 'chat' ? openai.chat('small-1') : openai.responses('small-1'),
      system: story.system,
      prompt: story.question,
      tools: { act: aiTool({ inputSchema: jsonSchema(anything), execute: async () => resultOf(story) }) },
      providerOptions: { own: story.options },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    };
    await (verb === 'generateText' ? ai.generateText(call) : ai.streamText(call).text);
  };

setTracingDisabled(true);

const openaiAgents =
  (useResponses: boolean, stream: boolean): Tell =>
  async (recorder, story) => {
    await using server = await modelOf(story);
    const openAIClient = new OpenAI({ apiKey: 'none', baseURL: server.url, maxRetries: 0 }) as never;
    const runner = new Runner({
      modelProvider: recordModels(new OpenAIProvider({ openAIClient, useResponses }), recorder),
    });
    const act = openaiTool({
      name: 'act',
      description: 'Acts',
      parameters: anything as never,
      strict: false,
      execute: async () => resultOf(story),
      errorFunction: (_context, error) => String(error),
    });
    const agent = new Agent({
      name: 'support',
      instructions: story.system,
      model: 'small-1',
      modelSettings: { providerData: story.options },
      tools: [act],
    });
    const own = recordAgent(agent, recorder);
    if (!stream) await runner.run(own, story.question);
    else await (await runner.run(own, story.question, { stream: true })).completed;
  };

/** A chat model as that of OpenAI is in LangChain: the arguments stand beside the call once more, as text. */
const langgraph: Tell = async (recorder, story) => {
  const { input, answer, options } = story;
  const kept = [{ id: 'call_1', type: 'function', function: { name: 'act', arguments: JSON.stringify(input) } }];
  const asking = new AIMessage({
    content: '',
    tool_calls: [{ type: 'tool_call', id: 'call_1', name: 'act', args: input }],
    additional_kwargs: { tool_calls: kept } as never,
    response_metadata: options,
  });
  const act = langChainTool(async () => JSON.stringify(resultOf(story)), {
    name: 'act',
    description: 'Acts',
    schema: anything,
  });
  const graph = createReactAgent({
    llm: new ScriptedChatModel([asking, new AIMessage(answer)]),
    tools: recordTools([act]),
    prompt: story.system,
  });
  await graph.invoke(
    { messages: [new HumanMessage(story.question)] },
    { callbacks: [new RepriseCallbackHandler(recorder)], metadata: { own: options } },
  );
};

const mcp: Tell = async (recorder, story) => {
  const [transport, other] = InMemoryTransport.createLinkedPair();
  const server = new McpServer({ name: 'acts', version: '1.0.0' });
  server.registerTool('act', { description: story.system, inputSchema: z.looseObject({}) }, async () => ({
    content: [{ type: 'text' as const, text: JSON.stringify(resultOf(story)) }],
    _meta: story.options,
  }));
  await server.connect(other);
  const client = new Client({ name: 'tests', version: '1.0.0' });
  await client.connect(recordTransport(transport, recorder));
  await client.listTools();
  await client.callTool({ name: 'act', arguments: { ...story.input, said: story.question, answer: story.answer } });
  await client.close();
};

const tells: Readonly<Record<string, Tell>> = {
  'AI SDK, chat': aiSdk('chat', 'generateText'),
  'AI SDK, responses, streamed': aiSdk('responses', 'streamText'),
  'OpenAI Agents, chat completions': openaiAgents(false, false),
  'OpenAI Agents, chat completions, streamed': openaiAgents(false, true),
  'OpenAI Agents, responses': openaiAgents(true, false),
  LangGraph: langgraph,
  MCP: mcp,
};

/** The places of a story, with what is put there. */
const places: Readonly<Record<string, readonly [Planted['kind'], (plant: Plant) => Partial<Story>]>> = {
  'the system prompt': ['text', ({ text }) => ({ system: text })],
  'the question': ['text', ({ text }) => ({ question: text })],
  'the arguments of a tool': ['value', ({ value }) => ({ input: value })],
  'the result of a tool': ['value', ({ value }) => ({ output: value })],
  'the result of a tool as text': ['value', ({ value }) => ({ output: `Done: ${JSON.stringify(value)}` })],
  'the error of a tool': ['text', ({ text }) => ({ output: new Error(text) })],
  'the answer': ['text', ({ text }) => ({ answer: text })],
  'the options of the framework': ['value', ({ value }) => ({ options: value })],
};

/** Places that a framework does not show its adapter. */
const untold: readonly string[] = ['MCP: the system prompt'];

/** Fills every place of every adapter, each in a session of its own. */
export async function plantByAdapters(open: (id: string) => Promise<Session>): Promise<Planted[]> {
  const planted: Planted[] = [];
  for (const [name, tell] of Object.entries(tells)) {
    for (const [what, [kind, fill]] of Object.entries(places)) {
      const plant = plantIn(`${name}: ${what}`);
      if (untold.includes(plant.place)) continue;
      const recorder = await (await open(`adapter-${planted.length}`)).record({ facts: false });
      await tell(recorder, { ...plain, ...fill(plant) });
      const { failed, errors } = await recorder.close();
      if (failed > 0) throw new Error(`${plant.place} was not recorded: ${errors[0]?.message}`);
      planted.push({ plant, kind });
    }
  }
  return [...planted, ...(await plantByClients(open)), ...(await plantByResuming(open))];
}

/** Fills the places of every recorded client: a loop that is resumed from nothing. */
async function plantByClients(open: (id: string) => Promise<Session>): Promise<Planted[]> {
  const planted: Planted[] = [];
  const told = Object.entries(places).filter(([what]) => !/system prompt|options/.test(what));
  for (const [name, world] of Object.entries(clientWorlds)) {
    for (const [what, [kind, fill]] of told) {
      const plant = plantIn(`${name}: ${what}`);
      const story = { ...plain, ...fill(plant) };
      await using server = await modelOf(story, 'refund');
      const refund = recordFunction(async (_input: unknown) => resultOf(story), { name: 'refund' });
      const agent = world.agent(world.open(server.url), { refund });
      const session = await open(`client-${planted.length}`);
      const resumed = session.resume(agent, { prompt: story.question, effects: 'run' });
      await (story.output instanceof Error ? resumed.catch(() => undefined) : resumed);
      planted.push({ plant, kind });
    }
  }
  return planted;
}

/** The options of each framework's run call, with a value where it takes any. */
const runs: Readonly<Record<string, (value: JsonObject) => JsonObject>> = {
  'AI SDK': (value) => ({ providerOptions: { own: value } }),
  'OpenAI Agents': (value) => ({ maxTurns: 4, own: value }),
  LangGraph: (value) => ({ metadata: { own: value } }),
  'a plain function': (value) => ({ own: value }),
};

async function plantByResuming(open: (id: string) => Promise<Session>): Promise<Planted[]> {
  const planted: Planted[] = [];
  for (const [name, world] of Object.entries(worlds)) {
    const session = await open(`resumed-${planted.length}`);
    const recorder = await session.record({ facts: false });
    await world.record(recorder, new Script(['Fine.']), 'Hi');
    await recorder.close();
    const prompt = plantIn(`${name}: the prompt of a resume`);
    const first = await session.fork('main');
    await first.resume(world.agent(new Script(['Fine.'])), { prompt: prompt.text });
    const options = plantIn(`${name}: the options of a resume`);
    const run = runs[name]?.(options.value) as never;
    const second = await session.fork('main');
    await second.resume(world.agent(new Script(['Fine.'])), { prompt: 'And now?', run });
    planted.push({ plant: prompt, kind: 'text' }, { plant: options, kind: 'value' });
  }
  return planted;
}

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation<JsonValue>(),
  token: Annotation<string>(),
  bytes: Annotation<Uint8Array>(),
});

/** Places in what a graph saves. */
const saved: Readonly<Record<string, readonly [Planted['kind'], (plant: Plant) => Partial<typeof State.State>]>> = {
  'the value of a channel': ['value', ({ value }) => ({ notes: value })],
  'a channel named like a secret': ['text', ({ text }) => ({ token: text })],
  'bytes that are text': ['text', ({ text }) => ({ bytes: new TextEncoder().encode(text) })],
  'the text of a message': ['text', ({ text }) => ({ messages: [new HumanMessage(text)] })],
  'a tool call of a message': [
    'value',
    ({ value }) => ({
      messages: [
        new AIMessage({ content: '', tool_calls: [{ type: 'tool_call', id: 'c1', name: 'act', args: { ...value } }] }),
      ],
    }),
  ],
};

/** Fills every place of the saver, each in a thread of its own. */
export async function plantBySaver(
  _open: (id: string) => Promise<Session>,
  reprise: Reprise,
  masks: boolean,
): Promise<Planted[]> {
  const planted: Planted[] = [];
  for (const [place, [kind, fill]] of Object.entries(saved)) {
    const plant = plantIn(`the saver: ${place}`);
    const graph = new StateGraph(State)
      .addNode('write', () => fill(plant))
      .addEdge(START, 'write')
      .addEdge('write', END)
      .compile({ checkpointer: new RepriseSaver(reprise, undefined, { masks }) });
    await graph.invoke({ notes: 1 }, { configurable: { thread_id: `saver-${planted.length}` } });
    planted.push({ plant, kind });
  }
  const asked = plantIn('the saver: what an interrupt asks');
  const told = plantIn('the saver: the metadata of a run');
  const waiting = new StateGraph(State)
    .addNode('ask', () => ({ notes: interrupt(asked.value) }))
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer: new RepriseSaver(reprise, undefined, { masks }) });
  await waiting.invoke({ notes: 1 }, { configurable: { thread_id: 'saver-asks' } });
  // A graph keeps nothing of a user's there; a program that saves by itself may.
  const metadata = { source: 'input', step: -1, parents: {}, own: told.value } as const;
  const thread = { configurable: { thread_id: 'saver-told', checkpoint_ns: '' } };
  await new RepriseSaver(reprise, undefined, { masks }).put(thread, emptyCheckpoint(), metadata as never, {});
  return [...planted, { plant: asked, kind: 'value' }, { plant: told, kind: 'value' }];
}
