/** Helper methods of the clients come down to the recorded requests: each is recorded once, and works as before. */
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { type CallableTool, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { recordAnthropic } from '../../src/anthropic.ts';
import { recordGemini } from '../../src/gemini.ts';
import { type Event, openReprise, type Recorder, recordFunction } from '../../src/index.ts';
import { recordOpenAI } from '../../src/openai.ts';
import { type ModelScript, type ModelServer, openModelServer } from '../../src/testing.ts';
import { dataOf } from './openai-agents-world.ts';

const model = 'small-1';
const messages = [{ role: 'user' as const, content: 'Refund order 7.' }];
const schema = { type: 'object' as const, properties: { order: { type: 'number' } }, required: ['order'] } as const;

/** Records while a function runs in a run, against a scripted model, and gives the events. */
async function recorded(
  script: ModelScript,
  body: (recorder: Recorder, server: ModelServer) => Promise<unknown>,
): Promise<readonly Event[]> {
  await using server = await openModelServer(script);
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('story');
  const recorder = await session.record({ facts: false });
  await recorder.run({}, () => body(recorder, server));
  expect((await recorder.close()).errors).toEqual([]);
  const events = await Array.fromAsync(session.replay());
  const asked = server.requests.filter(({ request }) => request !== undefined);
  expect(dataOf(events, 'call.started', 'model')).toHaveLength(asked.length);
  return events;
}

const ends = (events: readonly Event[]) => dataOf(events, 'call.ended', 'model');
const openai = (recorder: Recorder, server: ModelServer): OpenAI =>
  recordOpenAI(new OpenAI({ apiKey: 'none', baseURL: server.url, maxRetries: 0 }), recorder);
const anthropic = (recorder: Recorder, server: ModelServer): Anthropic =>
  recordAnthropic(new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0 }), recorder);
const gemini = (recorder: Recorder, server: ModelServer): GoogleGenAI =>
  recordGemini(new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: server.url } }), recorder);

const hello: ModelScript = [{ reply: { text: 'Hello there.' } }];
const structured: ModelScript = [{ reply: { text: '{"paid":50}' } }];
const refunding: ModelScript = [
  { when: { answered: 'refund' }, reply: { text: 'Done.' } },
  { reply: { toolCalls: [{ name: 'refund', id: 'call_a', input: { order: 7 } }] } },
];
const refund = recordFunction(async ({ order }: { readonly order: number }) => `refunded ${order}`, {
  name: 'refund',
  effect: 'irreversible',
});

/** Expects the record of a loop with one tool. */
function expectLoop(events: readonly Event[]): void {
  expect(ends(events)).toMatchObject([{ finishReason: 'tool-calls' }, { finishReason: 'stop', outcome: 'ok' }]);
  expect(dataOf(events, 'call.ended', 'tool')).toMatchObject([
    { call: 'call_a', name: 'refund', output: 'refunded 7', outcome: 'ok' },
  ]);
  expect(dataOf(events, 'call.started', 'tool')).toMatchObject([{ input: { order: 7 } }]);
}

test('loops side by side that are asked for equal calls make each its own', async () => {
  const asking: ModelScript = [{ reply: { toolCalls: [{ name: 'refund', input: { order: 7 } }] } }];
  const made: string[] = [];
  const events = await recorded(asking, async (recorder, server) => {
    const client = openai(recorder, server);
    const runs = ['a', 'b'].map((agent) => recorder.startRun({ agent }));
    const calls = ['c', 'd'].map((name) => recorder.startCall({ kind: 'tool', name, effect: 'pure' }));
    const sides = [...runs, ...(await Promise.all(calls))];
    for (const side of sides) {
      const { choices } = await side.within(() => client.chat.completions.create({ model, messages }));
      made.push(choices[0]?.message.tool_calls?.[0]?.id ?? '');
    }
    for (const side of sides) await side.within(() => refund({ order: 7 }));
    for (const side of sides) side.end();
  });
  const tools = events.filter(({ type, data }) => type === 'call.started' && data['name'] === 'refund');
  const asked = events.filter(({ type, data }) => type === 'call.started' && data['kind'] === 'model');
  expect(tools.map(({ data, run, cause }) => [data['call'], run, cause])).toEqual(
    asked.map(({ run, id }, index) => [made[index], run, id]),
  );
});

test('OpenAI: stream() and its events', async () => {
  const events = await recorded(hello, async (recorder, server) => {
    const client = openai(recorder, server);
    const stream = client.chat.completions.stream({ model, messages });
    const pieces: string[] = [];
    stream.on('content', (delta) => pieces.push(delta));
    expect(await stream.finalContent()).toBe('Hello there.');
    expect(pieces.join('')).toBe('Hello there.');
    const response = client.responses.stream({ model, input: 'Hello?' });
    expect((await response.finalResponse()).output_text).toBe('Hello there.');
  });
  expect(ends(events)).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }]);
});

test('OpenAI: parse()', async () => {
  const format = z.object({ paid: z.number() });
  const events = await recorded(structured, async (recorder, server) => {
    const client = openai(recorder, server);
    const asked = { model, messages, response_format: zodResponseFormat(format, 'bill') };
    expect((await client.chat.completions.parse(asked)).choices[0]?.message.parsed).toEqual({ paid: 50 });
    const said = await client.responses.parse({
      model,
      input: 'Well?',
      text: { format: zodTextFormat(format, 'bill') },
    });
    expect(said.output_parsed).toEqual({ paid: 50 });
  });
  expect(dataOf(events, 'call.started', 'model')).toMatchObject([
    { request: { settings: { response_format: { type: 'json_schema' } } } },
    { request: { settings: { text: { format: { type: 'json_schema' } } } } },
  ]);
});

test('OpenAI: runTools(), with a function that is recorded', async () => {
  for (const stream of [false, true]) {
    const events = await recorded(refunding, async (recorder, server) => {
      const { chat } = openai(recorder, server);
      const tool = { name: 'refund', parse: JSON.parse, function: refund, parameters: schema, description: 'Refunds' };
      const tools = [{ type: 'function' as const, function: tool as never }];
      const runner = stream
        ? chat.completions.runTools({ model, messages, tools, stream })
        : chat.completions.runTools({ model, messages, tools });
      expect(await runner.finalContent()).toBe('Done.');
    });
    expectLoop(events);
  }
});

test('OpenAI: withResponse(), asResponse() and tee()', async () => {
  const events = await recorded(hello, async (recorder, server) => {
    const { chat } = openai(recorder, server);
    const { data, response, request_id } = await chat.completions.create({ model, messages }).withResponse();
    expect([data.choices[0]?.message.content, response.status, request_id]).toEqual(['Hello there.', 200, 'req_1']);
    expect(response.url).toContain('/chat/completions');
    const raw = await chat.completions.create({ model, messages }).asResponse();
    expect(raw.headers.get('content-type')).toContain('application/json');
    expect(await raw.json()).toMatchObject({ object: 'chat.completion' });
    const [left, right] = (await chat.completions.create({ model, messages, stream: true })).tee();
    const chunks = await Promise.all([Array.fromAsync(left), Array.fromAsync(right)]);
    expect(chunks[0]).toEqual(chunks[1]);
  });
  expect(ends(events)).toMatchObject([
    { outcome: 'ok', provider: { requestId: 'req_1' } },
    { outcome: 'ok', message: { content: 'Hello there.' } },
    { outcome: 'ok', message: { content: 'Hello there.' } },
  ]);
});

test('OpenAI: withOptions() and post() are recorded, other endpoints are not', async () => {
  const events = await recorded(hello, async (recorder, server) => {
    const client = openai(recorder, server);
    await client.withOptions({ timeout: 1_000 }).chat.completions.create({ model, messages });
    await client.post('/chat/completions', { body: { model, messages } });
    await expect(client.get('/models')).rejects.toThrow('404');
  });
  expect(ends(events)).toHaveLength(2);
});

test('OpenAI: a response that names an earlier one is recorded with all that the model knew', async () => {
  const events = await recorded(hello, async (recorder, server) => {
    const { responses } = openai(recorder, server);
    const first = await responses.create({ model, input: 'My order is 7.' });
    await responses.create({ model, input: 'Which one?', previous_response_id: first.id });
  });
  const [, second] = dataOf(events, 'call.started', 'model');
  expect(second?.['request']).toMatchObject({ messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'user' }] });
});

test('Anthropic: stream() and its events', async () => {
  const events = await recorded(hello, async (recorder, server) => {
    const stream = anthropic(recorder, server).messages.stream({ model, max_tokens: 100, messages });
    const pieces: string[] = [];
    stream.on('text', (delta) => pieces.push(delta));
    expect(await stream.finalText()).toBe('Hello there.');
    expect(pieces.join('')).toBe('Hello there.');
  });
  expect(ends(events)).toMatchObject([{ outcome: 'ok', finishReason: 'stop' }]);
});

test('Anthropic: parse()', async () => {
  const events = await recorded(structured, async (recorder, server) => {
    const output_config = { format: zodOutputFormat(z.object({ paid: z.number() })) };
    const { messages: made } = anthropic(recorder, server);
    const said = await made.parse({ model, max_tokens: 100, messages, output_config });
    expect(said.parsed_output).toEqual({ paid: 50 });
  });
  expect(ends(events)).toMatchObject([{ outcome: 'ok' }]);
});

test('Anthropic: toolRunner(), with a function that is recorded', async () => {
  for (const stream of [false, true]) {
    const events = await recorded(refunding, async (recorder, server) => {
      const tool = betaTool({ name: 'refund', description: 'Refunds', inputSchema: schema, run: refund });
      const { beta } = anthropic(recorder, server);
      const runner = beta.messages.toolRunner({ model, max_tokens: 100, messages, tools: [tool], stream });
      const said = await runner.runUntilDone();
      expect(said.content).toMatchObject([{ type: 'text', text: 'Done.' }]);
    });
    expectLoop(events);
  }
});

test('Anthropic: withResponse() and asResponse()', async () => {
  const events = await recorded(hello, async (recorder, server) => {
    const client = anthropic(recorder, server);
    const { data, response } = await client.messages.create({ model, max_tokens: 100, messages }).withResponse();
    expect([data.type, response.status]).toEqual(['message', 200]);
    const raw = await client.messages.create({ model, max_tokens: 100, messages }).asResponse();
    expect(await raw.json()).toMatchObject({ type: 'message' });
  });
  expect(ends(events)).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }]);
});

test('Gemini: a chat, streamed and not', async () => {
  const events = await recorded(hello, async (recorder, server) => {
    const chat = gemini(recorder, server).chats.create({ model });
    expect((await chat.sendMessage({ message: 'Hello?' })).text).toBe('Hello there.');
    const chunks = await Array.fromAsync(await chat.sendMessageStream({ message: 'Again?' }));
    expect(chunks.map(({ text }) => text ?? '').join('')).toBe('Hello there.');
  });
  const [, second] = dataOf(events, 'call.started', 'model');
  expect(second?.['request']).toMatchObject({ messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'user' }] });
});

test('Gemini: automatic function calling, with a function that is recorded', async () => {
  const tool: CallableTool = {
    tool: async () => ({ functionDeclarations: [{ name: 'refund', parametersJsonSchema: schema }] }),
    callTool: (calls) =>
      Promise.all(
        calls.map(async ({ id, name = '', args }) => {
          const output = await refund(args as { readonly order: number });
          return { functionResponse: { ...(id === undefined ? {} : { id }), name, response: { output } } };
        }),
      ),
  };
  const events = await recorded(refunding, async (recorder, server) => {
    const said = await gemini(recorder, server).models.generateContent({
      model,
      contents: 'Refund order 7.',
      config: { tools: [tool] },
    });
    expect(said.text).toBe('Done.');
  });
  expectLoop(events);
});

test.each([
  ['OpenAI', (client: never, recorder: Recorder) => recordOpenAI(client, recorder)],
  ['Anthropic', (client: never, recorder: Recorder) => recordAnthropic(client, recorder)],
  ['Gemini', (client: never, recorder: Recorder) => recordGemini(client, recorder)],
] as const)('%s: something that is not its client is refused, not recorded as silent', async (_name, record) => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('story');
  await using recorder = await session.record({ facts: false });
  for (const wrong of [{}, { chat: { completions: {} } }, { models: {}, chats: {} }])
    expect(() => record(wrong as never, recorder)).toThrow(expect.objectContaining({ code: 'client.unsupported' }));
});
