/** The cost of recording an agent that streams: in time, and in the wait for the first token. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createOpenAI } from '@ai-sdk/openai';
import { isStepCount, type LanguageModel, streamText, tool } from 'ai';
import { z } from 'zod';
import { recordModel } from '../src/adapters/ai-sdk/recorded-model.ts';
import { recordTools } from '../src/adapters/ai-sdk/recorded-tools.ts';
import type { Recorder } from '../src/core/recording/recorder.ts';
import type { JsonObject, Message } from '../src/index.ts';
import { askAnthropic, askGemini, askOpenAI } from './client-agents.ts';
import { askGraph, askOpenAIAgent } from './framework-agents.ts';
import { alternate, atMost, forTheRecord, median, minimum, type Row, spread, time, timeEach } from './measure.ts';
import { open, remove, type Workspace } from './workspace.ts';

const firstMs = 20;
const pieceMs = 2;
const pieces = 100;
const overheadMax = 1.05;
const addedMsMax = 1;
const roundsMin = 7;

/** How long a run took, and how long each of its model calls waited for the first token. */
interface Run {
  readonly wall: number;
  readonly first: number;
}

/** Rows of recording. */
export async function benchRecording(workspace: Workspace): Promise<Row[]> {
  const isQuick = workspace.sizes.isQuick;
  using model = await openModel(isQuick ? 5 : pieces);
  const path = workspace.path('recording.db');
  await using opened = await open(path, 'disk');
  await using recorder = await opened.session.record({ agent: 'bench' });
  const rounds = isQuick ? 1 : roundsMin * 2;
  const plain = await compared(rounds, (recording) => loop(model.url, recording ? recorder : undefined));
  const sdk = await compared(rounds, (recording) => sdkLoop(model.url, recording ? recorder : undefined));
  const text = String(question.content);
  const agents = await compared(rounds, (recording) => {
    const to = recording ? recorder : undefined;
    return within(to, () => askOpenAIAgent(model.url, text, to));
  });
  const graph = await compared(rounds, (recording) => {
    const to = recording ? recorder : undefined;
    return within(to, () => askGraph((messages) => answered(model.url, messages), text, to));
  });
  const clients: Row[] = [];
  for (const [who, ask] of Object.entries(clientAgents)) {
    const found = await compared(rounds, (recording) => {
      const to = recording ? recorder : undefined;
      return within(to, () => ask(model.url, text, to));
    });
    clients.push(...rowsOf(who, found));
  }
  const calls = await perCall(workspace, recorder);
  const { failed } = await recorder.flush();
  if (failed > 0) throw new Error(`${failed} events were not recorded`);
  remove(path);
  return [
    ...rowsOf('an agent of its own that streams', plain),
    ...rowsOf('an AI SDK agent that streams', sdk),
    ...rowsOf('an agent of OpenAI Agents that streams', agents),
    ...rowsOf('a LangGraph agent that streams', graph),
    ...clients,
    ...calls,
  ];
}

const clientAgents = {
  'a loop over `openai` that streams': askOpenAI,
  'a loop over `@anthropic-ai/sdk` that streams': askAnthropic,
  'a loop over `@google/genai` that streams': askGemini,
} as const;

type Compared = Record<'with' | 'without', { readonly wall: number[]; readonly first: number[] }>;

/** Runs the agent with and without a record, in turn. */
async function compared(rounds: number, run: (recording: boolean) => Promise<Run>): Promise<Compared> {
  // Neither the first connection nor cold code is what is measured.
  for (const recording of [false, true]) await run(recording);
  const first: Record<'with' | 'without', number[]> = { with: [], without: [] };
  const timed = (name: 'with' | 'without') => async () => {
    const found = await run(name === 'with');
    first[name].push(found.first);
    return found.wall;
  };
  const walls = await alternate(rounds, { without: timed('without'), with: timed('with') });
  return {
    with: { wall: walls.with, first: first.with },
    without: { wall: walls.without, first: first.without },
  };
}

function rowsOf(who: string, { with: recorded, without }: Compared): Row[] {
  const about = `two model calls and a tool; first token after ${firstMs} ms, ${pieces} pieces ${pieceMs} ms apart; durable`;
  return [
    atMost({
      name: `recording ${who}: time`,
      value: minimum(recorded.wall) / minimum(without.wall),
      limit: overheadMax,
      unit: '×',
      detail: `least of ${recorded.wall.length} rounds; ${spread(recorded.wall)} a run against ${spread(without.wall)} unrecorded; ${about}`,
      cause:
        'the wait for the disk before a tool that may not be repeated, and the end of the run, which is over when it is stored.',
    }),
    atMost({
      name: `recording ${who}: added to the first token`,
      value: Math.max(0, minimum(recorded.first) - minimum(without.first)),
      limit: addedMsMax,
      unit: ' ms',
      detail: `least of ${recorded.first.length} rounds; ${spread(recorded.first)} against ${spread(without.first)} unrecorded`,
      cause: 'the request is encoded before it is sent, and the disk is written on the thread that reads the stream.',
    }),
  ];
}

/** The cost of a call when the model takes no time: everything else is noise of the network. */
async function perCall(workspace: Workspace, recorder: Recorder): Promise<Row[]> {
  const calls = workspace.sizes.isQuick ? 5 : 200;
  const messages: readonly Message[] = Array.from({ length: 20 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index} ${'x'.repeat(600)}`,
  }));
  const answer: Message = { role: 'assistant', content: 'y'.repeat(600) };
  const end = { message: answer, usage: { inputTokens: 3_000, outputTokens: 150 } };
  const asking = (kind: 'model' | 'tool') => () =>
    timeEach(calls, async () => {
      for (let index = 0; index < calls; index++)
        await recorder.call(
          kind === 'model'
            ? { kind, name: 'small-1', request: { messages } }
            : { kind, name: 'refund', input: { index } },
          () => answer,
          () => (kind === 'model' ? end : { output: { index } }),
        );
      await recorder.flush();
    });
  const times = await alternate(workspace.sizes.rounds, { model: asking('model'), tool: asking('tool') });
  return [
    forTheRecord(
      'recording a call that takes no time',
      `${time(median(times.model))} and ${time(median(times.tool))}`,
      `a model call with 20 messages of 600 B ${spread(times.model)}; a tool that may not be repeated, which waits for the disk ${spread(times.tool)}`,
    ),
  ];
}

interface Model extends Disposable {
  readonly url: string;
}

async function openModel(count: number): Promise<Model> {
  const words = [join(import.meta.dirname, 'model-process.ts'), firstMs, pieceMs, count].map(String);
  const child: ChildProcess = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  if (child.stdout === null) throw new Error('The model has no output');
  for await (const url of createInterface({ input: child.stdout }))
    return { url, [Symbol.dispose]: () => void child.kill() };
  throw new Error('The model did not start');
}

/** Records a run, if there is a recorder. */
async function within(recorder: Recorder | undefined, body: () => Promise<number[]>): Promise<Run> {
  const start = performance.now();
  const first = await (recorder === undefined ? body() : recorder.run({ title: 'bench' }, body));
  return { wall: performance.now() - start, first: median(first) };
}

const question: Message = { role: 'user', content: 'Where is order 7?' };
const lookup = { type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } };
const asked = { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{"order":7}' } };

/** An agent of no framework: a model call, a tool, a model call. */
function loop(url: string, recorder: Recorder | undefined): Promise<Run> {
  return within(recorder, async () => {
    recorder?.message(question);
    const first = [await ask(url, [question as unknown as JsonObject], recorder)];
    await (recorder?.call({ kind: 'tool', name: 'lookup', input: { order: 7 } }, () => ({ paid: 50 })) ?? { paid: 50 });
    const said = { role: 'assistant', content: '', tool_calls: [asked] };
    const result = { role: 'tool', tool_call_id: 'c1', content: '{"paid":50}' };
    first.push(await ask(url, [question as unknown as JsonObject, said, result], recorder));
    return first;
  });
}

/** Asks for a stream, reads it to its end, and gives the wait for the first token. */
async function ask(url: string, messages: readonly JsonObject[], recorder: Recorder | undefined): Promise<number> {
  const start = performance.now();
  const call = await recorder?.startCall({ kind: 'model', name: 'm', request: { messages: messages as never } });
  let first: number | undefined;
  let text = '';
  for await (const piece of answered(url, messages)) {
    text += piece;
    if (first !== undefined) continue;
    first = performance.now() - start;
    call?.firstToken();
  }
  call?.end({ message: { role: 'assistant', content: text } });
  return first ?? Number.NaN;
}

/** Asks for a stream, and gives its text as it comes. */
async function* answered(url: string, messages: readonly object[]): AsyncIterable<string> {
  const body = JSON.stringify({ model: 'm', stream: true, messages, tools: [lookup] });
  yield* piecesOf(await fetch(`${url}/chat/completions`, { method: 'POST', body }));
}

/** The text of a streamed chat completion, as it comes. */
async function* piecesOf(response: Response): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of response.body ?? []) {
    const events = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      if (event === 'data: [DONE]') return;
      const { choices } = JSON.parse(event.slice('data: '.length)) as Chunk;
      const content = choices[0]?.delta.content ?? '';
      if (content !== '') yield content;
    }
  }
}

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

/** The same with the AI SDK and its adapter. */
function sdkLoop(url: string, recorder: Recorder | undefined): Promise<Run> {
  const chat: LanguageModel = createOpenAI({ baseURL: url, apiKey: 'none' }).chat('m');
  const execute = () => ({ paid: 50 });
  const own = { lookup: tool({ description: 'Looks up', inputSchema: z.object({ order: z.number() }), execute }) };
  return within(recorder, async () => {
    const started: number[] = [];
    const first: number[] = [];
    const result = streamText({
      model: recorder === undefined ? chat : recordModel(chat, recorder),
      tools: recorder === undefined ? own : recordTools(own, recorder),
      prompt: String(question.content),
      stopWhen: isStepCount(5),
    });
    started.push(performance.now());
    for await (const part of result.stream) {
      if (part.type === 'finish-step') started.push(performance.now());
      if (part.type === 'text-delta' && first.length < started.length)
        first.push(performance.now() - (started.at(-1) ?? 0));
    }
    return first;
  });
}
