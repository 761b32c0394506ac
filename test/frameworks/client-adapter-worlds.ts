/** The little story of `adapter-worlds.ts` as a loop over each provider's client, whose `fetch` is scripted. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { loopAgent as anthropicLoop } from '../../src/anthropic.ts';
import { bareMessages, type Message } from '../../src/core/message/message.ts';
import { type Agent, recordTools } from '../../src/index.ts';
import { type LoopAgent, loopAgent as openaiLoop } from '../../src/openai.ts';
import { fromAnthropicMessages, toAnthropicMessages } from '../../src/protocols/anthropic-messages.ts';
import { fromChatCompletions, toChatCompletions } from '../../src/protocols/chat-completions.ts';
import type { FromProtocol, ToProtocol } from '../../src/protocols/protocol.ts';
import { fromResponses, toResponses } from '../../src/protocols/responses.ts';
import { type AdapterWorld, callsOf, littleLines, type Script } from './adapter-worlds.ts';

const model = 'small-1';
const schema = { type: 'object' as const, properties: { order: { type: 'number' } }, required: ['order'] };

/** A protocol, read and written. */
interface Protocol {
  readonly from: FromProtocol;
  readonly to: ToProtocol;
}
const chat: Protocol = { from: fromChatCompletions, to: toChatCompletions };
const responses: Protocol = { from: fromResponses, to: toResponses };
const anthropic: Protocol = { from: fromAnthropicMessages, to: toAnthropicMessages };

/** Returns a `fetch` that answers as a provider of a protocol does, with what the script says. */
const scriptedFetch =
  (script: Script, { from, to }: Protocol): typeof fetch =>
  async (_url, init) => {
    const { messages } = from.request(JSON.parse(String(init?.body)));
    const say = await script.next(messages.flatMap(littleLines)).catch((error: Error) => error);
    if (say instanceof Error) {
      const { status = 500 } = say as { status?: number };
      return Response.json({ error: { type: 'error', message: say.message } }, { status });
    }
    const message: Message =
      typeof say === 'string'
        ? { role: 'assistant', content: say }
        : {
            role: 'assistant',
            content: callsOf(say).map(({ call, input }) => ({
              type: 'tool-call',
              toolCallId: call,
              toolName: 'lookup',
              input: { ...input },
            })),
          };
    const finishReason = typeof say === 'string' ? 'stop' : 'tool-calls';
    const usage = { inputTokens: 10, outputTokens: 5 };
    return Response.json(
      to.answer({ message, finishReason, usage, provider: { id: 'r1', object: 'response', model } }),
    );
  };

const functionsOf = (script: Script) =>
  recordTools({ lookup: async ({ order }: { order: number }) => script.execute(order) }, { effects: script.effects });

function chatAgent(script: Script): LoopAgent<unknown, string> {
  const client = new OpenAI({
    apiKey: 'none',
    maxRetries: 0,
    fetch: scriptedFetch(script, chat),
  });
  const functions = functionsOf(script);
  const tools = [{ type: 'function' as const, function: { name: 'lookup', parameters: schema } }];
  return openaiLoop(
    async ({ client: recorded, messages, prompt, signal }) => {
      if (prompt !== undefined) messages.push(prompt);
      for (;;) {
        const { choices } = await recorded.chat.completions.create({ model, messages, tools }, { signal });
        const message = choices[0]?.message;
        if (message === undefined) throw new Error('Nothing was said');
        messages.push(message);
        if (message.tool_calls === undefined) return message.content ?? '';
        for (const call of message.tool_calls) {
          if (call.type !== 'function') continue;
          const content = JSON.stringify(await functions.lookup(JSON.parse(call.function.arguments)));
          messages.push({ role: 'tool', tool_call_id: call.id, content });
        }
      }
    },
    { client, name: 'support', model, functions },
  );
}

function responsesAgent(script: Script): LoopAgent<unknown, string> {
  const client = new OpenAI({
    apiKey: 'none',
    maxRetries: 0,
    fetch: scriptedFetch(script, responses),
  });
  const functions = functionsOf(script);
  const tools = [{ type: 'function' as const, name: 'lookup', parameters: schema, strict: false }];
  return openaiLoop(
    async ({ client: recorded, messages, prompt, signal }) => {
      if (prompt !== undefined) messages.push(prompt);
      for (;;) {
        const { output, output_text } = await recorded.responses.create({ model, input: messages, tools }, { signal });
        messages.push(...(output as OpenAI.Responses.ResponseInputItem[]));
        const calls = output.filter((item) => item.type === 'function_call');
        if (calls.length === 0) return output_text;
        for (const { call_id, arguments: written } of calls) {
          const result = JSON.stringify(await functions.lookup(JSON.parse(written)));
          messages.push({ type: 'function_call_output', call_id, output: result });
        }
      }
    },
    { client, name: 'support', model, protocol: 'responses', functions },
  );
}

function anthropicAgent(script: Script): LoopAgent<unknown, string> {
  const client = new Anthropic({
    apiKey: 'none',
    maxRetries: 0,
    fetch: scriptedFetch(script, anthropic),
  });
  const functions = functionsOf(script);
  const tools = [{ name: 'lookup', input_schema: schema }];
  return anthropicLoop(
    async ({ client: recorded, messages, prompt, signal }) => {
      if (prompt !== undefined) messages.push(prompt);
      for (;;) {
        const { content } = await recorded.messages.create({ model, max_tokens: 100, messages, tools }, { signal });
        messages.push({ role: 'assistant', content });
        const calls = content.filter((block) => block.type === 'tool_use');
        if (calls.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
        const results: Anthropic.ToolResultBlockParam[] = [];
        for (const { id, input } of calls) {
          const output = JSON.stringify(await functions.lookup(input as { order: number }));
          results.push({ type: 'tool_result', tool_use_id: id, content: output });
        }
        messages.push({ role: 'user', content: results });
      }
    },
    { client, name: 'support', model, functions },
  );
}

const worldOf = (agentOf: (script: Script) => LoopAgent<unknown, string>, protocol: Protocol): AdapterWorld => ({
  record: (recorder, script, question, before = []) => agentOf(script).run(recorder, question, { messages: before }),
  agent: (script) => agentOf(script) as Agent<never, unknown>,
  run: { given: { retries: 2 }, recorded: { retries: 2 } },
  handBack: (script, messages) => {
    const body = JSON.stringify(protocol.to.request({ model, messages: bareMessages(messages) }));
    return scriptedFetch(script, protocol)('https://provider.test', { method: 'POST', body });
  },
});

/** Every client whose `fetch` can be given. */
export const clientWorlds: Readonly<Record<string, AdapterWorld>> = {
  'OpenAI chat completions': worldOf(chatAgent, chat),
  'OpenAI responses': worldOf(responsesAgent, responses),
  'Anthropic messages': worldOf(anthropicAgent, anthropic),
};
