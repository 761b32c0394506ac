/** The agent of the recording bench as a loop over each client: a model call, a tool, a model call, streamed. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { recordAnthropic } from '../src/anthropic.ts';
import type { Recorder } from '../src/core/recording/recorder.ts';
import { recordGemini } from '../src/gemini.ts';
import { recordFunction } from '../src/index.ts';
import { recordOpenAI } from '../src/openai.ts';

const schema = { type: 'object' as const, properties: { order: { type: 'number' } } };
const lookup = recordFunction(async (_input: { readonly order: number }) => ({ paid: 50 }), { name: 'lookup' });
const found = JSON.stringify({ paid: 50 });

/** Asks a question, reads the stream to its end, and gives the wait for the first token. */
async function firstToken(
  ask: () => Promise<AsyncIterable<unknown>>,
  isToken: (chunk: never) => boolean,
): Promise<number> {
  const start = performance.now();
  let first: number | undefined;
  for await (const chunk of await ask())
    if (first === undefined && isToken(chunk as never)) first = performance.now() - start;
  return first ?? Number.NaN;
}

/** Makes a client once: connections, and what a client does when it is new, are not what is measured. */
function once<Client>(make: (url: string) => Client): (url: string) => Client {
  const made = new Map<string, Client>();
  return (url) => {
    const client = made.get(url) ?? make(url);
    made.set(url, client);
    return client;
  };
}

const openai = once((baseURL) => new OpenAI({ apiKey: 'none', baseURL }));
const anthropic = once((baseURL) => new Anthropic({ apiKey: 'none', baseURL }));
const gemini = once((baseUrl) => new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } }));

/** Asks a loop over OpenAI's client, and gives the wait for each first token. */
export async function askOpenAI(url: string, question: string, recorder: Recorder | undefined): Promise<number[]> {
  const { chat } = recorder === undefined ? openai(url) : recordOpenAI(openai(url), recorder);
  const tools = [{ type: 'function' as const, function: { name: 'lookup', parameters: schema } }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }];
  const ask = () => chat.completions.create({ model: 'm', messages, tools, stream: true });
  const isToken = (chunk: OpenAI.ChatCompletionChunk) => Boolean(chunk.choices[0]?.delta.content);
  const first = [await firstToken(ask, isToken)];
  await lookup({ order: 7 });
  const asked = { id: 'c1', type: 'function' as const, function: { name: 'lookup', arguments: '{"order":7}' } };
  messages.push({ role: 'assistant', content: 'I look.', tool_calls: [asked] });
  messages.push({ role: 'tool', tool_call_id: 'c1', content: found });
  return [...first, await firstToken(ask, isToken)];
}

/** Asks a loop over Anthropic's client, and gives the wait for each first token. */
export async function askAnthropic(url: string, question: string, recorder: Recorder | undefined): Promise<number[]> {
  const client = recorder === undefined ? anthropic(url) : recordAnthropic(anthropic(url), recorder);
  const tools = [{ name: 'lookup', input_schema: schema }];
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }];
  const ask = () => client.messages.create({ model: 'm', max_tokens: 100, messages, tools, stream: true });
  const isToken = (event: Anthropic.RawMessageStreamEvent) => event.type === 'content_block_delta';
  const first = [await firstToken(ask, isToken)];
  await lookup({ order: 7 });
  messages.push({ role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'lookup', input: { order: 7 } }] });
  messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: found }] });
  return [...first, await firstToken(ask, isToken)];
}

/** Asks a loop over Google's client, and gives the wait for each first token. */
export async function askGemini(url: string, question: string, recorder: Recorder | undefined): Promise<number[]> {
  const { models } = recorder === undefined ? gemini(url) : recordGemini(gemini(url), recorder);
  const config = { tools: [{ functionDeclarations: [{ name: 'lookup', parametersJsonSchema: schema }] }] };
  const contents = [{ role: 'user', parts: [{ text: question }] as object[] }];
  const ask = () => models.generateContentStream({ model: 'm', contents, config });
  const first = [await firstToken(ask, () => true)];
  await lookup({ order: 7 });
  contents.push({ role: 'model', parts: [{ functionCall: { name: 'lookup', args: { order: 7 } } }] });
  contents.push({ role: 'user', parts: [{ functionResponse: { name: 'lookup', response: { paid: 50 } } }] });
  return [...first, await firstToken(ask, () => true)];
}
