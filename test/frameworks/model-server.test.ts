/** The scripted model server, through the clients that people use. */
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { generateText, isStepCount, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { limits } from '../../src/index.ts';
import { type ModelScript, type ModelServer, openModelServer } from '../../src/testing.ts';

const model = 'scripted';
const weather = {
  name: 'weather',
  description: 'The weather of a city',
  inputSchema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};
const chatTool = {
  type: 'function',
  function: { name: 'weather', description: weather.description, parameters: weather.inputSchema },
} as const;
const responseTool = { type: 'function', name: 'weather', parameters: weather.inputSchema, strict: false } as const;
const anthropicTool = { name: 'weather', description: weather.description, input_schema: weather.inputSchema };

/** One script for every protocol. */
const story: ModelScript = [
  { when: { answered: 'weather' }, reply: ({ results }) => ({ text: `Grüße: ${String(results[0]?.output)}` }) },
  {
    when: { text: /weather/g },
    reply: {
      toolCalls: [
        { name: 'weather', input: { city: 'Tromsø' } },
        { name: 'weather', input: { city: 'Łódź' } },
      ],
    },
  },
  { when: { system: 'pirate' }, reply: { reasoning: 'They want a pirate.', text: 'Ahoy, matey!' } },
  {
    when: { text: 'hello', turn: 1 },
    reply: { text: 'Hello there, wörld.', usage: { inputTokens: 7, outputTokens: 9 } },
  },
];

const openai = (server: ModelServer, maxRetries = 0): OpenAI =>
  new OpenAI({ baseURL: server.url, apiKey: 'none', maxRetries });
const anthropic = (server: ModelServer, maxRetries = 0): Anthropic =>
  new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries });

const gemini = (server: ModelServer): GoogleGenAI =>
  new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: server.url } });

const thrown = (promise: PromiseLike<unknown>): Promise<Error> =>
  Promise.resolve(promise).then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error as Error,
  );

interface Said {
  readonly text: string;
  readonly usage: readonly unknown[];
}

const user = (content: string) => [{ role: 'user' as const, content }];

/** Streams a text; the AI SDK reports errors in a stream on the side. */
async function streamed(
  server: ModelServer,
  { kind, prompt, system }: { kind: 'chat' | 'responses'; prompt: string; system: string | undefined },
): Promise<Said> {
  const provider = createOpenAI({ baseURL: server.url, apiKey: 'none' });
  const errors: unknown[] = [];
  const onError = ({ error }: { error: unknown }) => void errors.push(error);
  const result = streamText({
    model: provider[kind](model),
    ...(system && { instructions: system }),
    prompt,
    maxRetries: 0,
    onError,
  });
  const [text, usage] = await Promise.all([result.text, result.usage]).catch((error) => {
    throw errors[0] ?? error;
  });
  if (errors.length > 0) throw errors[0];
  return { text, usage: [usage.inputTokens, usage.outputTokens] };
}

/** Every way to ask a question and get the text. */
const ways: Readonly<Record<string, (server: ModelServer, prompt: string, system?: string) => Promise<Said>>> = {
  'OpenAI chat': async (server, prompt, system) => {
    const messages = [...(system === undefined ? [] : [{ role: 'system' as const, content: system }]), ...user(prompt)];
    const { choices, usage } = await openai(server).chat.completions.create({ model, messages });
    return { text: choices[0]?.message.content ?? '', usage: [usage?.prompt_tokens, usage?.completion_tokens] };
  },
  'OpenAI chat, streamed': async (server, prompt, system) => {
    const messages = [
      ...(system === undefined ? [] : [{ role: 'developer' as const, content: system }]),
      ...user(prompt),
    ];
    const stream_options = { include_usage: true };
    const stream = openai(server).chat.completions.stream({ model, messages, stream_options });
    const { choices, usage } = await stream.finalChatCompletion();
    return { text: choices[0]?.message.content ?? '', usage: [usage?.prompt_tokens, usage?.completion_tokens] };
  },
  'OpenAI responses': async (server, prompt, instructions) => {
    const { output_text, usage } = await openai(server).responses.create({
      model,
      instructions: instructions ?? null,
      input: prompt,
    });
    return { text: output_text, usage: [usage?.input_tokens, usage?.output_tokens] };
  },
  'OpenAI responses, streamed': async (server, prompt, instructions) => {
    const stream = openai(server).responses.stream({ model, instructions: instructions ?? null, input: user(prompt) });
    const { output_text, usage } = await stream.finalResponse();
    return { text: output_text, usage: [usage?.input_tokens, usage?.output_tokens] };
  },
  'Anthropic messages': async (server, prompt, system) => {
    const { content, usage } = await anthropic(server).messages.create({
      model,
      max_tokens: 100,
      messages: user(prompt),
      ...(system === undefined ? {} : { system }),
    });
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return { text, usage: [usage.input_tokens, usage.output_tokens] };
  },
  'Anthropic messages, streamed': async (server, prompt, system) => {
    const stream = anthropic(server).messages.stream({
      model,
      max_tokens: 100,
      messages: user(prompt),
      ...(system === undefined ? {} : { system: [{ type: 'text' as const, text: system }] }),
    });
    const { usage } = await stream.finalMessage();
    return { text: await stream.finalText(), usage: [usage.input_tokens, usage.output_tokens] };
  },
  'Gemini contents': async (server, prompt, system) => {
    const config = system === undefined ? {} : { config: { systemInstruction: system } };
    const { text, usageMetadata } = await gemini(server).models.generateContent({ model, contents: prompt, ...config });
    return { text: text ?? '', usage: [usageMetadata?.promptTokenCount, usageMetadata?.candidatesTokenCount] };
  },
  'Gemini contents, streamed': async (server, prompt, system) => {
    const config = system === undefined ? {} : { config: { systemInstruction: system } };
    const chunks = await gemini(server).models.generateContentStream({ model, contents: prompt, ...config });
    let text = '';
    let usage: readonly unknown[] = [];
    for await (const chunk of chunks) {
      text += chunk.text ?? '';
      usage = [chunk.usageMetadata?.promptTokenCount, chunk.usageMetadata?.candidatesTokenCount];
    }
    return { text, usage };
  },
  'AI SDK, responses': async (server, prompt, system) => {
    const provider = createOpenAI({ baseURL: server.url, apiKey: 'none' });
    const { text, usage } = await generateText({
      model: provider(model),
      ...(system && { instructions: system }),
      prompt,
      maxRetries: 0,
    });
    return { text, usage: [usage.inputTokens, usage.outputTokens] };
  },
  'AI SDK, responses, streamed': (server, prompt, system) => streamed(server, { kind: 'responses', prompt, system }),
  'AI SDK, chat, streamed': (server, prompt, system) => streamed(server, { kind: 'chat', prompt, system }),
};

describe.each(Object.entries(ways))('the scripted model server over %s', (name, ask) => {
  const streamed = name.includes('streamed');

  test('answers by the prompt, with the usage it was told', async () => {
    await using server = await openModelServer(story);
    expect(await ask(server, 'Say hello.')).toEqual({ text: 'Hello there, wörld.', usage: [7, 9] });
    expect(server.requests).toMatchObject([
      { rule: 3, outcome: 'answered', request: { prompt: 'Say hello.', turn: 1 } },
    ]);
  });

  test('answers by the system prompt, and reasoning is no text', async () => {
    await using server = await openModelServer(story);
    expect(await ask(server, 'Who are you?', 'You are a pirate.')).toMatchObject({ text: 'Ahoy, matey!' });
    expect(server.requests[0]?.request).toMatchObject({ system: 'You are a pirate.', messages: user('Who are you?') });
  });

  test('refuses what no rule fits, and says so', async () => {
    await using server = await openModelServer(story);
    const error = await thrown(ask(server, 'Sing.'));
    expect(error.message).toContain('the script has no rule for this request');
    expect(server.requests).toMatchObject([{ rule: undefined, outcome: 'refused' }]);
  });

  test('passes on an error', async () => {
    await using server = await openModelServer([{ reply: { error: { status: 503, message: 'too much' } } }]);
    expect((await thrown(ask(server, 'hello'))).message).toContain('too much');
    expect(server.requests).toMatchObject([{ rule: 0, outcome: 'error' }]);
  });

  test('cuts the connection', async () => {
    await using server = await openModelServer([{ reply: { text: 'one two three four', cutAfter: 2 } }]);
    await thrown(ask(server, 'hello'));
    expect(server.requests).toMatchObject([{ outcome: 'cut' }]);
  });

  test('sends what is not JSON', async () => {
    await using server = await openModelServer([{ reply: { malformed: '{"id": "x", "choi' } }]);
    await thrown(ask(server, 'hello'));
    expect(server.requests).toMatchObject([{ rule: 0, outcome: 'answered' }]);
  });

  test('splits a character over two writes, and no client minds', async () => {
    const text = 'naïve café — 你好 👩‍🚀';
    await using server = await openModelServer([{ reply: { text, splitCharacters: true } }]);
    expect(await ask(server, 'hello')).toMatchObject({ text });
  });

  test('takes its time', async () => {
    await using server = await openModelServer([{ reply: { text: 'a b c d', firstMs: 43, pieceMs: 17 } }]);
    const timers = vi.spyOn(globalThis, 'setTimeout');
    await ask(server, 'hello');
    const waits = timers.mock.calls.map(([, ms]) => ms).filter((ms) => ms === 43 || ms === 17);
    expect(waits).toEqual(streamed ? [43, 17, 17, 17] : [43]);
    timers.mockRestore();
  });
});

describe('tools through the scripted model server', () => {
  const expected = ['Tromsø', 'Łódź'];

  test.each([false, true])('OpenAI chat (streamed: %s)', async (streamed) => {
    await using server = await openModelServer(story);
    const client = openai(server).chat.completions;
    const messages: OpenAI.ChatCompletionMessageParam[] = user('How is the weather?');
    const ask = () =>
      streamed
        ? client.stream({ model, messages, tools: [chatTool] }).finalChatCompletion()
        : client.create({ model, messages, tools: [chatTool] });
    const asked = (await ask()).choices[0];
    expect(asked?.finish_reason).toBe('tool_calls');
    const calls = asked?.message.tool_calls ?? [];
    expect(calls.map((call) => (call.type === 'function' ? JSON.parse(call.function.arguments).city : ''))).toEqual(
      expected,
    );
    expect(calls.map(({ id }) => id)).toEqual(['call_1', 'call_2']);
    if (asked !== undefined) messages.push(asked.message);
    messages.push(...calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: '7 degrees' })));
    expect((await ask()).choices[0]?.message.content).toBe('Grüße: 7 degrees');
    neutral(server);
  });

  test.each([false, true])('OpenAI responses, from the whole input (streamed: %s)', async (streamed) => {
    await using server = await openModelServer(story);
    const client = openai(server).responses;
    const input: OpenAI.Responses.ResponseInput = user('How is the weather?');
    const ask = () =>
      streamed
        ? client.stream({ model, input, tools: [responseTool] }).finalResponse()
        : client.create({ model, input, tools: [responseTool] });
    const output: readonly OpenAI.Responses.ResponseOutputItem[] = (await ask()).output;
    const calls = output.filter((item) => item.type === 'function_call');
    expect(calls.map((call) => JSON.parse(call.arguments).city)).toEqual(expected);
    input.push(
      ...calls.map(({ id, call_id, name, arguments: written }) => ({
        type: 'function_call' as const,
        id: id ?? '',
        call_id,
        name,
        arguments: written,
      })),
    );
    input.push(
      ...calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: '7 degrees' })),
    );
    expect((await ask()).output_text).toBe('Grüße: 7 degrees');
    neutral(server);
  });

  test('OpenAI responses, from what the server remembers', async () => {
    await using server = await openModelServer(story);
    const client = openai(server).responses;
    const first = await client.create({ model, input: 'How is the weather?', tools: [responseTool] });
    const input = first.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: '7 degrees' }]
        : [],
    );
    const second = await client.create({ model, previous_response_id: first.id, input, tools: [responseTool] });
    expect(second.output_text).toBe('Grüße: 7 degrees');
    neutral(server);
    const error = await thrown(client.create({ model, previous_response_id: 'resp_90', input: 'hello' }));
    expect(error.message).toContain("Previous response with id 'resp_90' not found");
  });

  test.each([false, true])('Anthropic messages (streamed: %s)', async (streamed) => {
    await using server = await openModelServer(story);
    const client = anthropic(server).messages;
    const messages: Anthropic.MessageParam[] = user('How is the weather?');
    const ask = () => {
      const request = { model, max_tokens: 100, messages, tools: [anthropicTool] };
      return streamed ? client.stream({ ...request }).finalMessage() : client.create({ ...request });
    };
    const { content, stop_reason } = await ask();
    expect(stop_reason).toBe('tool_use');
    const calls = content.filter((block) => block.type === 'tool_use');
    expect(calls.map(({ input }) => (input as { city: string }).city)).toEqual(expected);
    messages.push({
      role: 'assistant',
      content: calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
    });
    messages.push({
      role: 'user',
      content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: '7 degrees' })),
    });
    const { content: answer } = await ask();
    expect(answer).toMatchObject([{ type: 'text', text: 'Grüße: 7 degrees' }]);
    neutral(server);
  });

  test.each(['chat', 'responses'] as const)('AI SDK, %s', async (kind) => {
    await using server = await openModelServer(story);
    const provider = createOpenAI({ baseURL: server.url, apiKey: 'none' });
    const seen: string[] = [];
    const execute = ({ city }: { city: string }): string => {
      seen.push(city);
      return '7 degrees';
    };
    const tools = { weather: tool({ description: 'w', inputSchema: z.object({ city: z.string() }), execute }) };
    const { text } = await generateText({
      model: provider[kind](model),
      tools,
      prompt: 'How is the weather?',
      stopWhen: isStepCount(5),
      maxRetries: 0,
    });
    expect(text).toBe('Grüße: 7 degrees');
    expect(seen).toEqual(expected);
    neutral(server);
  });

  /** Checks that the second question looks the same to the script in every protocol. */
  function neutral(server: ModelServer): void {
    const request = server.requests[1]?.request;
    expect(request?.messages).toEqual([
      { role: 'user', content: 'How is the weather?' },
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 'call_1', toolName: 'weather', input: { city: 'Tromsø' } },
          { type: 'tool-call', toolCallId: 'call_2', toolName: 'weather', input: { city: 'Łódź' } },
        ],
      },
      ...[request?.messages.slice(2)].flatMap((rest) => rest ?? []),
    ]);
    expect(request?.results).toMatchObject([
      { toolCallId: 'call_1', toolName: 'weather', output: '7 degrees' },
      { toolCallId: 'call_2', toolName: 'weather', output: '7 degrees' },
    ]);
    expect(request?.tools).toMatchObject([{ name: 'weather', inputSchema: { type: 'object' } }]);
  }
});

describe('what a script can say', () => {
  test('a client that is told to come back later does, and is answered', async () => {
    const script: ModelScript = [
      { reply: [{ error: { status: 429, retryAfter: 0.05 } }, { error: { status: 529 } }, { text: 'at last' }] },
    ];
    await using server = await openModelServer(script);
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const { choices } = await openai(server, 3).chat.completions.create({ model, messages: user('hello') });
    expect(choices[0]?.message.content).toBe('at last');
    expect(timers.mock.calls.map(([, ms]) => ms)).toContain(50);
    timers.mockRestore();
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['error', 'error', 'answered']);
    const again = await openai(server).chat.completions.create({ model, messages: user('hello') });
    expect(again.choices[0]?.message.content, 'the last reply stays').toBe('at last');
  });

  test('the same requests get the same bytes from another server', async () => {
    const bytes = async (): Promise<string> => {
      await using server = await openModelServer(story);
      const texts: string[] = [];
      for (const prompt of ['Say hello.', 'How is the weather?'])
        for (const stream of [false, true])
          for (const [path, body] of [
            ['chat/completions', { messages: user(prompt) }],
            ['responses', { input: prompt }],
            ['messages', { messages: user(prompt) }],
          ] as const)
            texts.push(
              await (
                await fetch(`${server.url}/${path}`, {
                  method: 'POST',
                  body: JSON.stringify({ model, stream, ...body }),
                })
              ).text(),
            );
      return texts.join('\n');
    };
    expect(await bytes()).toBe(await bytes());
  });

  test('a conversation that another server began gets new ids for its tool calls', async () => {
    await using server = await openModelServer([{ reply: { toolCalls: [{ name: 'weather', input: {} }] } }]);
    const tool_calls = ['call_1', 'call_2'].map((id) => ({
      id,
      type: 'function' as const,
      function: { name: 'weather', arguments: '{}' },
    }));
    const results = tool_calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'rain' }));
    const messages = [...user('x'), { role: 'assistant' as const, tool_calls }, ...results];
    const { choices } = await openai(server).chat.completions.create({ model, messages });
    expect(choices[0]?.message.tool_calls?.map(({ id }) => id)).toEqual(['call_3']);
  });

  test('arguments that are no JSON arrive as they are', async () => {
    await using server = await openModelServer([
      { reply: { toolCalls: [{ name: 'weather', arguments: '{"city": ' }] } },
    ]);
    const { choices } = await openai(server).chat.completions.create({ model, messages: user('x'), tools: [chatTool] });
    const call = choices[0]?.message.tool_calls?.[0];
    expect(call?.type === 'function' && call.function.arguments).toBe('{"city": ');
  });

  test('a finish reason is said in the words of each protocol', async () => {
    await using server = await openModelServer(() => ({ text: 'cut sh', finishReason: 'length' }));
    const chat = await openai(server).chat.completions.create({ model, messages: user('x') });
    const response = await openai(server).responses.create({ model, input: 'x' });
    const message = await anthropic(server).messages.create({ model, max_tokens: 9, messages: user('x') });
    expect([chat.choices[0]?.finish_reason, response.incomplete_details?.reason, message.stop_reason]).toEqual([
      'length',
      'max_output_tokens',
      'max_tokens',
    ]);
  });

  test.each(['chat/completions', 'responses', 'messages'])(
    '%s: a character really is split, and a cut comes where it was told',
    async (path) => {
      const text = ['één ', 'twee ', 'drie'];
      await using server = await openModelServer([{ reply: { text, splitCharacters: true, cutAfter: 2 } }]);
      const body = JSON.stringify({ model, stream: true, messages: user('x'), input: 'x' });
      const response = await fetch(`${server.url}/${path}`, { method: 'POST', body });
      const chunks: Uint8Array[] = [];
      const error = await thrown(
        (async () => {
          for await (const chunk of response.body ?? []) chunks.push(chunk);
        })(),
      );
      expect(error.message).toBe('terminated');
      const whole = (chunk: Uint8Array): boolean => !new TextDecoder().decode(chunk).includes('\ufffd');
      expect(chunks.filter((chunk) => !whole(chunk)).length).toBeGreaterThanOrEqual(2);
      const received = Buffer.concat(chunks).toString('utf8');
      expect(text.map((piece) => received.includes(JSON.stringify(piece)))).toEqual([true, true, false]);
    },
  );

  test('a script that throws is told to the client', async () => {
    await using server = await openModelServer(() => {
      throw new Error('the script is wrong');
    });
    expect((await thrown(openai(server, 2).responses.create({ model, input: 'x' }))).message).toContain(
      'script is wrong',
    );
    expect(server.requests).toHaveLength(1);
  });

  test('a client that goes away is noticed, and nothing waits for the rest', async () => {
    await using server = await openModelServer([{ reply: { text: 'a b c d e f', pieceMs: 1_000 } }]);
    const stream = await openai(server).chat.completions.create({ model, messages: user('x'), stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'a') break;
    await expect.poll(() => server.requests[0]?.outcome).toBe('aborted');
  });

  test('a request that is none of its business, or no JSON, is refused by name', async () => {
    await using server = await openModelServer(story);
    const other = await fetch(`${server.url}/embeddings`, { method: 'POST', body: '{}' });
    expect([other.status, await other.text()]).toEqual([404, expect.stringContaining('/v1/embeddings')]);
    const bad = await fetch(`${server.url}/responses`, { method: 'POST', body: '{"model' });
    expect([bad.status, await bad.text()]).toEqual([400, expect.stringContaining('not JSON')]);
  });

  test('it keeps the newest requests, scriptedRequestsMax of them', async () => {
    await using server = await openModelServer(() => ({ text: 'x' }));
    const ask = (at: number): Promise<Response> =>
      fetch(`${server.url}/responses`, { method: 'POST', body: JSON.stringify({ model, input: `number ${at}` }) });
    for (let at = 0; at < limits.scriptedRequestsMax + 5; at++) await (await ask(at)).text();
    expect(server.requests).toHaveLength(limits.scriptedRequestsMax);
    expect(server.requests[0]?.request?.prompt).toBe('number 5');
    const body = { model, input: 'x', previous_response_id: 'resp_1' };
    const forgotten = await fetch(`${server.url}/responses`, { method: 'POST', body: JSON.stringify(body) });
    expect(forgotten.status).toBe(400);
  });

  test('closing ends what is open', async () => {
    const server = await openModelServer([{ reply: { text: 'a b c', firstMs: 60_000 } }]);
    const asked = thrown(openai(server).responses.create({ model, input: 'x' }));
    await expect.poll(() => server.requests.length).toBe(1);
    await server.close();
    await asked;
    await thrown(fetch(server.url));
  });
});
