/** The AI SDK, recorded while things go wrong or take their time: streams, aborts, errors, retries, tools. */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { APICallError, embed, generateText, stepCountIs, ToolLoopAgent, tool } from 'ai';
import { MockEmbeddingModelV4, MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { recordAgent, recordAiSdk, recordModel, recordTools } from '../../src/ai-sdk.ts';
import { RepriseError } from '../../src/index.ts';
import {
  asks,
  dataOf,
  eventsOf,
  openSession,
  partsOf,
  said,
  scripted,
  tableOf,
  usage,
  weatherTools,
} from './ai-sdk-world.ts';

const loop = { stopWhen: stepCountIs(5) };

/** A model whose stream is written by the test. */
function held(): { model: MockLanguageModelV4; writer: WritableStreamDefaultWriter<LanguageModelV4StreamPart> } {
  const { readable, writable } = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>(
    undefined,
    { highWaterMark: 100 },
    { highWaterMark: 0 },
  );
  const doStream = async ({ abortSignal }: { abortSignal?: AbortSignal }) => {
    abortSignal?.addEventListener('abort', () => void writer.abort(abortSignal.reason).catch(() => undefined));
    return { stream: readable };
  };
  const writer = writable.getWriter();
  return { model: new MockLanguageModelV4({ modelId: 'held', doStream }), writer };
}

const begun: LanguageModelV4StreamPart[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Once ' },
];

test('a part reaches the reader before the model says the next', async () => {
  let clock = 0;
  await using world = await openSession({ elapsedMs: () => clock });
  await using recorder = await world.session.record();
  const { model, writer } = held();
  const { stream } = await recordModel(model, recorder).doStream({ prompt: [] });
  const reader = stream.getReader();
  clock = 30;
  for (const part of begun) {
    void writer.write(part);
    expect((await reader.read()).value).toEqual(part);
  }
  clock = 70;
  void writer.write({ type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage });
  await reader.read();
  // The call is over with the last part, whether or not anyone reads on.
  await recorder.flush();
  const [end] = dataOf(await eventsOf(world.session), 'call.ended');
  expect(end).toMatchObject({ outcome: 'ok', message: { content: 'Once ' }, firstTokenMs: 30, latencyMs: 70 });
});

test('the first text of streamText is there while the model is still speaking', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const { model, writer } = held();
  const texts = recordAiSdk(recorder).streamText({ model, prompt: 'Tell.' }).textStream[Symbol.asyncIterator]();
  for (const part of begun) void writer.write(part);
  expect((await texts.next()).value).toBe('Once ');
  for (const part of partsOf(said()).slice(1)) void writer.write(part);
  void writer.close();
  expect((await texts.next()).done).toBe(true);
});

test('nothing is asked of the model ahead of the reader', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  let pulled = 0;
  const pull = (controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>) => {
    controller.enqueue(begun[pulled++ % begun.length] as LanguageModelV4StreamPart);
  };
  const doStream = async () => ({ stream: new ReadableStream({ pull }, { highWaterMark: 0 }) });
  const { stream } = await recordModel(new MockLanguageModelV4({ doStream }), recorder).doStream({ prompt: [] });
  const reader = stream.getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(pulled).toBe(1);
});

test.each([
  ['aborted by its signal', 'aborted'],
  ['given up by its reader', 'aborted'],
  ['broken by an error', 'error'],
  ['cut short', 'interrupted'],
])('a stream %s is recorded once, as %s, with what had arrived', async (how, outcome) => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const { model, writer } = held();
  const abort = new AbortController();
  const { stream } = await recordModel(model, recorder).doStream({ prompt: [], abortSignal: abort.signal });
  const reader = stream.getReader();
  const more: LanguageModelV4StreamPart[] = [
    { type: 'text-end', id: '1' },
    { type: 'tool-input-start', id: 't1', toolName: 'weather' },
    { type: 'tool-input-delta', id: 't1', delta: '{"ci' },
  ];
  for (const part of [...begun, ...more]) {
    void writer.write(part);
    await reader.read();
  }
  if (how.startsWith('aborted')) {
    abort.abort();
    await expect(reader.read()).rejects.toMatchObject({ name: 'AbortError' });
  } else if (how.startsWith('given')) await reader.cancel('enough');
  else if (how.startsWith('broken')) {
    await writer.abort(new Error('connection reset'));
    await expect(reader.read()).rejects.toThrow('connection reset');
  } else {
    await writer.close();
    expect((await reader.read()).done).toBe(true);
  }
  await reader.cancel().catch(() => undefined);
  await recorder.flush();
  const ends = dataOf(await eventsOf(world.session), 'call.ended');
  expect(ends).toHaveLength(1);
  expect(ends[0]).toMatchObject({
    outcome,
    message: {
      content: [
        { type: 'text', text: 'Once ' },
        { type: 'tool-call', toolCallId: 't1', toolName: 'weather', input: '{"ci' },
      ],
    },
  });
  if (outcome === 'error') expect(ends[0]?.['error']).toMatchObject({ message: 'connection reset' });
});

test('an error that a stream tells is the end of the call, and of the run', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const { model, writer } = held();
  const errors: unknown[] = [];
  const onError = ({ error }: { error: unknown }) => void errors.push(error);
  const result = recordAiSdk(recorder).streamText({ model, prompt: 'Tell.', onError });
  for (const part of begun) void writer.write(part);
  void writer.write({ type: 'error', error: new Error('overloaded') });
  void writer.write({ type: 'finish', finishReason: { unified: 'error', raw: 'error' }, usage });
  void writer.close();
  await result.consumeStream();
  await recorder.flush();
  const events = await eventsOf(world.session);
  expect(dataOf(events, 'call.ended')[0]).toMatchObject({ outcome: 'error', error: { message: 'overloaded' } });
  expect(dataOf(events, 'run.ended')[0]).toMatchObject({ outcome: 'error', error: { message: 'overloaded' } });
  expect(errors).toHaveLength(1);
});

test('a stream that breaks on its way to the reader ends the run with that error', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const broken = () =>
    new TransformStream({
      transform: () => {
        throw new Error('bad transform');
      },
    });
  const model = scripted([said('Hello.')]);
  const result = recordAiSdk(recorder).streamText({ model, prompt: 'Hello?', experimental_transform: broken });
  await result.consumeStream();
  await recorder.flush();
  const [end] = dataOf(await eventsOf(world.session), 'run.ended');
  expect(end).toMatchObject({ outcome: 'error', error: { message: 'bad transform' } });
});

test('a stream that is read inside of another run stays what it began in', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const model = scripted([said(asks('weather', { city: 'Oslo' })), said('Cold.')]);
  const result = recordAiSdk(recorder).streamText({ model, prompt: 'Oslo?', tools: weatherTools(), ...loop });
  await recorder.run({ title: 'other' }, () => result.consumeStream());
  const calls = (await eventsOf(world.session)).filter(({ type }) => type === 'call.started');
  expect(new Set(calls.map(({ run }) => run)).size).toBe(1);
  expect(calls.map(({ causeSeq }) => causeSeq)).toEqual([1, calls[0]?.seq, 1]);
});

test('streamText and the stream of an agent that are aborted in the middle say so in their run', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  for (const kind of ['text', 'agent']) {
    const { model, writer } = held();
    const abort = new AbortController();
    const call = { prompt: 'Tell.', abortSignal: abort.signal };
    const result =
      kind === 'text'
        ? recordAiSdk(recorder).streamText({ model, ...call })
        : await recordAgent(new ToolLoopAgent({ model }), recorder).stream(call);
    const texts = result.textStream[Symbol.asyncIterator]();
    for (const part of begun) void writer.write(part);
    expect((await texts.next()).value).toBe('Once ');
    abort.abort();
    expect((await texts.next()).done).toBe(true);
  }
  await recorder.flush();
  const events = await eventsOf(world.session);
  expect(dataOf(events, 'call.ended').map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted']);
  expect(dataOf(events, 'run.ended').map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted']);
});

test('each attempt of a retried model call is a call of its own, and the user message is there once', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const busy = new APICallError({
    message: 'Too many requests',
    url: 'https://example.com',
    requestBodyValues: {},
    statusCode: 429,
    responseHeaders: { 'retry-after-ms': '1', 'set-cookie': 'a=b' },
    responseBody: '{"error":"busy"}',
    isRetryable: true,
  });
  const { text } = await recordAiSdk(recorder).generateText({
    model: scripted([busy, busy, said('At last.')]),
    prompt: 'Hello?',
  });
  expect(text).toBe('At last.');
  const events = await eventsOf(world.session);
  expect(tableOf(events).filter((row) => row.includes('model'))).toHaveLength(6);
  expect(dataOf(events, 'message.added')).toHaveLength(1);
  const ends = dataOf(events, 'call.ended');
  expect(ends.map(({ outcome, attempts }) => [outcome, attempts])).toEqual([
    ['error', 1],
    ['error', 2],
    ['ok', 3],
  ]);
  expect(ends[0]).toMatchObject({
    error: { message: 'Too many requests', status: 429 },
    provider: {
      name: 'mock',
      status: 429,
      isRetryable: true,
      body: '{"error":"busy"}',
      headers: { 'retry-after-ms': '1' },
    },
  });
  expect(JSON.stringify(ends)).not.toContain('a=b');
});

test('an error of the provider is thrown as it was, and ends call and run', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const broken = new Error('model is on fire');
  const calling = recordAiSdk(recorder).generateText({ model: scripted([broken]), prompt: 'Hello?' });
  await expect(calling).rejects.toBe(broken);
  const events = await eventsOf(world.session);
  expect(dataOf(events, 'call.ended')[0]).toMatchObject({ outcome: 'error', error: { message: 'model is on fire' } });
  expect(dataOf(events, 'run.ended')[0]).toMatchObject({ outcome: 'error' });
});

test('a tool that yields preliminary results hands on each, and is recorded with the last', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const weather = tool({
    inputSchema: z.object({ city: z.string() }),
    async *execute({ city }) {
      yield { city, degrees: null };
      yield { city, degrees: 7 };
    },
  });
  const model = scripted([said(asks('weather', { city: 'Oslo' })), said('Cold.')]);
  const result = recordAiSdk(recorder).streamText({ model, prompt: 'Oslo?', tools: { weather }, ...loop });
  const outputs = (await Array.fromAsync(result.fullStream)).flatMap((part) =>
    part.type === 'tool-result' ? [[part.preliminary ?? false, (part.output as { degrees: unknown }).degrees]] : [],
  );
  expect(outputs).toEqual([
    [true, null],
    [true, 7],
    [false, 7],
  ]);
  await recorder.flush();
  const [end] = dataOf(await eventsOf(world.session), 'call.ended', 'tool');
  expect(end).toMatchObject({ call: 't1', outcome: 'ok', output: { city: 'Oslo', degrees: 7 } });
});

test('an error of a tool reaches the model as it would have, and is recorded', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const { weather } = weatherTools();
  const execute = () => Promise.reject(new Error('no signal'));
  const model = scripted([said(asks('weather', { city: 'Oslo' })), said('Sorry.')]);
  await recordAiSdk(recorder).generateText({
    model,
    prompt: 'Oslo?',
    tools: { weather: { ...weather, execute } },
    ...loop,
  });
  expect(model.doGenerateCalls[1]?.prompt.at(-1)).toMatchObject({
    content: [{ output: { type: 'error-text', value: 'Error: no signal' } }],
  });
  const [end] = dataOf(await eventsOf(world.session), 'call.ended', 'tool');
  expect(end).toMatchObject({ outcome: 'error', error: { message: 'no signal' }, output: 'Error: no signal' });
});

test('recordTools leaves alone what it does not record', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  const asked = tool({ inputSchema: z.object({}), outputSchema: z.string() });
  const guarded = tool({
    inputSchema: z.object({}),
    needsApproval: true,
    toModelOutput: () => ({ type: 'text', value: 'done' }),
    execute: async () => 'raw',
  });
  const tools = recordTools({ asked, guarded }, recorder);
  expect(tools.asked).toBe(asked);
  expect({ ...tools.guarded, execute: guarded.execute }).toEqual(guarded);
  const model = scripted([said(asks('guarded', {}))]);
  const { content } = await generateText({ model, prompt: 'Go.', tools });
  expect(content.map(({ type }) => type)).toEqual(['tool-call', 'tool-approval-request']);
  await recorder.flush();
  expect(await eventsOf(world.session)).toEqual([]);
});

test('an answer from the record stands in for executing a tool, and a refusal reaches the agent', async () => {
  await using world = await openSession();
  const executed: string[] = [];
  const story = () => scripted([said(asks('weather', { city: 'Oslo' })), said('Done.')]);
  const decisions = [
    async () => ({ outcome: 'ok' as const, output: { degrees: 1 }, error: undefined }),
    async () => ({ outcome: 'error' as const, output: undefined, error: { name: 'E', message: 'then' } }),
    async () => Promise.reject(new RepriseError('effect.refused', 'Cannot call "weather": not twice')),
  ];
  const told: unknown[] = [];
  for (const decide of decisions) {
    await using recorder = await world.session.record({
      guards: [{ before: ({ kind }) => (kind === 'tool' ? decide() : undefined) }],
    });
    const model = story();
    const tools = weatherTools(executed);
    await recordAiSdk(recorder, { effects: { weather: 'irreversible' } }).generateText({
      model,
      prompt: '?',
      tools,
      ...loop,
    });
    const [part] = (model.doGenerateCalls[1]?.prompt.at(-1)?.content ?? []) as { output?: { value?: unknown } }[];
    told.push(part?.output?.value);
  }
  expect(told).toEqual([{ degrees: 1 }, 'E: then', 'RepriseError: Cannot call "weather": not twice']);
  expect(executed).toEqual([]);
  const [started] = dataOf(await eventsOf(world.session), 'call.started', 'tool');
  expect(started).toMatchObject({ effect: 'irreversible' });
});

test('an embedding is no model call', async () => {
  await using world = await openSession();
  await using recorder = await world.session.record();
  recordAiSdk(recorder);
  const model = new MockEmbeddingModelV4({ doEmbed: async () => ({ embeddings: [[1, 2]], warnings: [] }) });
  await embed({ model, value: 'x' });
  expect((await recorder.flush()).stored).toBe(0);
});
