/** The same little loop over every client that is recorded: a model that may ask for a refund, and one question. */
import Anthropic from '@anthropic-ai/sdk';
import { type Content, type FunctionDeclaration, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { loopAgent as anthropicLoop, recordAnthropic } from '../../src/anthropic.ts';
import { loopAgent as geminiLoop, recordGemini } from '../../src/gemini.ts';
import type { Recorder } from '../../src/index.ts';
import { type LoopAgent, loopAgent as openaiLoop, recordOpenAI } from '../../src/openai.ts';

/** How a client is opened. */
interface ClientOptions {
  readonly maxRetries?: number;
}

/** How a question is asked. */
interface AskOptions {
  readonly signal?: AbortSignal;
}

/** The functions that the loop calls, by name. */
export type Functions = Readonly<Record<string, (input: never) => Promise<unknown>>>;

/** A client, and how this project records and resumes it. */
export interface ClientWorld<Client = object> {
  open(url: string, options?: ClientOptions): Client;
  record(client: Client, recorder: Recorder, agent?: string): Client;
  /** Asks one question and gives the text. */
  ask(client: Client, prompt: string, options?: AskOptions): Promise<string>;
  /** The same, streamed: tells each piece of text as it reaches the reader. Stops reading where that says false. */
  stream(
    client: Client,
    prompt: string,
    onText: (text: string) => boolean | undefined | void,
    options?: AskOptions,
  ): Promise<void>;
  /** The loop as an agent. */
  agent(client: Client, functions: Functions, options?: { readonly pending?: boolean }): LoopAgent<unknown, string>;
}

const model = 'small-1';
const schema = { type: 'object' as const, properties: { order: { type: 'number' } }, required: ['order'] };
const system = 'Resolve refunds.';

const call = (functions: Functions, name: string, input: unknown): Promise<unknown> =>
  functions[name]?.(input as never) ?? Promise.reject(new Error(`No function ${name}`));

const openOpenAI = (url: string, { maxRetries = 0 }: ClientOptions = {}): OpenAI =>
  new OpenAI({ apiKey: 'none', baseURL: url, maxRetries });

const signalOf = ({ signal }: AskOptions = {}): { signal?: AbortSignal } => (signal === undefined ? {} : { signal });

const chat: ClientWorld<OpenAI> = {
  open: openOpenAI,
  record: (client, recorder, agent) => recordOpenAI(client, recorder, agent === undefined ? {} : { agent }),
  ask: async (client, content, options) => {
    const messages = [{ role: 'user' as const, content }];
    const { choices } = await client.chat.completions.create({ model, messages }, signalOf(options));
    return choices[0]?.message.content ?? '';
  },
  stream: async (client, content, onText, options) => {
    const messages = [{ role: 'user' as const, content }];
    const asked = { model, messages, stream: true as const, stream_options: { include_usage: true } };
    for await (const chunk of await client.chat.completions.create(asked, signalOf(options))) {
      const text = chunk.choices[0]?.delta.content;
      if (text && onText(text) === false) break;
    }
  },
  agent: (client, functions, { pending = true } = {}) =>
    openaiLoop(
      async ({ client: recorded, messages, prompt, system: told, tools, signal }) => {
        if (prompt !== undefined) messages.push(prompt);
        const own = [{ type: 'function' as const, function: { name: 'refund', parameters: schema } }];
        for (;;) {
          const first = { role: 'system' as const, content: told ?? system };
          const { choices } = await recorded.chat.completions.create(
            { model, messages: [first, ...messages], tools: tools ?? own },
            { signal },
          );
          const [choice] = choices;
          if (choice === undefined) throw new Error('Nothing was said');
          messages.push(choice.message);
          if (choice.message.tool_calls === undefined) return choice.message.content ?? '';
          for (const asked of choice.message.tool_calls) {
            if (asked.type !== 'function') continue;
            const output = await call(functions, asked.function.name, JSON.parse(asked.function.arguments));
            messages.push({ role: 'tool', tool_call_id: asked.id, content: JSON.stringify(output) });
          }
        }
      },
      { client, name: 'support', model, ...(pending ? { functions } : {}) },
    ),
};

const responses: ClientWorld<OpenAI> = {
  ...chat,
  ask: async (client, input, options) =>
    (await client.responses.create({ model, input }, signalOf(options))).output_text,
  stream: async (client, input, onText, options) => {
    for await (const event of await client.responses.create({ model, input, stream: true }, signalOf(options)))
      if (event.type === 'response.output_text.delta' && onText(event.delta) === false) break;
  },
  agent: (client, functions, { pending = true } = {}) =>
    openaiLoop(
      async ({ client: recorded, messages, prompt, system: told, tools, signal }) => {
        if (prompt !== undefined) messages.push(prompt);
        const own = [{ type: 'function' as const, name: 'refund', parameters: schema, strict: false }];
        for (;;) {
          const asked = { model, instructions: told ?? system, input: messages, tools: tools ?? own };
          const { output, output_text } = await recorded.responses.create(asked, { signal });
          messages.push(...(output as OpenAI.Responses.ResponseInputItem[]));
          const calls = output.filter((item) => item.type === 'function_call');
          if (calls.length === 0) return output_text;
          for (const { call_id, name, arguments: written } of calls) {
            const result = await call(functions, name, JSON.parse(written));
            messages.push({ type: 'function_call_output', call_id, output: JSON.stringify(result) });
          }
        }
      },
      { client, name: 'support', model, protocol: 'responses', ...(pending ? { functions } : {}) },
    ),
};

const anthropic: ClientWorld<Anthropic> = {
  open: (url, { maxRetries = 0 } = {}) => new Anthropic({ apiKey: 'none', baseURL: url, maxRetries }),
  record: (client, recorder, agent) => recordAnthropic(client, recorder, agent === undefined ? {} : { agent }),
  ask: async (client, content, options) => {
    const messages = [{ role: 'user' as const, content }];
    const said = await client.messages.create({ model, max_tokens: 100, messages }, signalOf(options));
    return said.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  },
  stream: async (client, content, onText, options) => {
    const asked = { model, max_tokens: 100, messages: [{ role: 'user' as const, content }], stream: true as const };
    for await (const event of await client.messages.create(asked, signalOf(options)))
      if (
        event.type === 'content_block_delta' &&
        event.delta.type === 'text_delta' &&
        onText(event.delta.text) === false
      )
        break;
  },
  agent: (client, functions, { pending = true } = {}) =>
    anthropicLoop(
      async ({ client: recorded, messages, prompt, system: told, tools, signal }) => {
        if (prompt !== undefined) messages.push(prompt);
        const own = [{ name: 'refund', input_schema: schema }];
        for (;;) {
          const asked = { model, max_tokens: 100, system: told ?? system, messages, tools: tools ?? own };
          const { content } = await recorded.messages.create(asked, { signal });
          messages.push({ role: 'assistant', content });
          const calls = content.filter((block) => block.type === 'tool_use');
          if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
          const results: Anthropic.ToolResultBlockParam[] = [];
          for (const { id, name, input } of calls) {
            const output = await call(functions, name, input);
            results.push({ type: 'tool_result', tool_use_id: id, content: JSON.stringify(output) });
          }
          messages.push({ role: 'user', content: results });
        }
      },
      { client, name: 'support', model, ...(pending ? { functions } : {}) },
    ),
};

const gemini: ClientWorld<GoogleGenAI> = {
  open: (url, { maxRetries = 0 } = {}) => {
    const retryOptions = maxRetries === 0 ? {} : { retryOptions: { attempts: maxRetries + 1, initialDelay: 0.01 } };
    return new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url, ...retryOptions } });
  },
  record: (client, recorder, agent) => recordGemini(client, recorder, agent === undefined ? {} : { agent }),
  ask: async (client, contents, { signal } = {}) => {
    const config = signal === undefined ? {} : { config: { abortSignal: signal } };
    return (await client.models.generateContent({ model, contents, ...config })).text ?? '';
  },
  stream: async (client, contents, onText, { signal } = {}) => {
    const config = signal === undefined ? {} : { config: { abortSignal: signal } };
    for await (const { text } of await client.models.generateContentStream({ model, contents, ...config }))
      if (text && onText(text) === false) break;
  },
  agent: (client, functions, { pending = true } = {}) =>
    geminiLoop(
      async ({ client: recorded, messages, prompt, system: told, tools, signal }) => {
        if (prompt !== undefined) messages.push(prompt);
        const declared: FunctionDeclaration[] = [{ name: 'refund', parametersJsonSchema: schema }];
        for (;;) {
          const answer = await recorded.models.generateContent({
            model,
            contents: messages,
            config: {
              systemInstruction: told ?? system,
              tools: tools ?? [{ functionDeclarations: declared }],
              abortSignal: signal,
            },
          });
          const content = answer.candidates?.[0]?.content;
          if (content !== undefined) messages.push(content);
          const { functionCalls } = answer;
          if (functionCalls === undefined) return answer.text ?? '';
          const parts: Content['parts'] = [];
          for (const { id, name = '', args } of functionCalls) {
            const output = await call(functions, name, args);
            const response = typeof output === 'object' && output !== null ? { ...output } : { output };
            parts.push({ functionResponse: { ...(id === undefined ? {} : { id }), name, response } });
          }
          messages.push({ role: 'user', parts });
        }
      },
      { client, name: 'support', model, ...(pending ? { functions } : {}) },
    ),
};

/** Every client, by its protocol. */
export const clientWorlds: Readonly<Record<string, ClientWorld<never>>> = {
  'openai-chat': chat as ClientWorld<never>,
  'openai-responses': responses as ClientWorld<never>,
  'anthropic-messages': anthropic as ClientWorld<never>,
  'gemini-content': gemini as ClientWorld<never>,
};
