/** Models that answer 429, then 500, and then well: what is recorded of the tries, by each adapter over real HTTP. */
import { createOpenAI } from '@ai-sdk/openai';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';
import { beforeAll, expect, test } from 'vitest';
import { recordAiSdk } from '../../src/ai-sdk.ts';
import { type Event, openReprise, type Recorder } from '../../src/index.ts';
import { RepriseCallbackHandler } from '../../src/langgraph.ts';
import { recordRunner } from '../../src/openai-agents.ts';
import { type ModelServer, openModelServer } from '../../src/testing.ts';
import { dataOf } from './openai-agents-world.ts';

beforeAll(() => setTracingDisabled(true));

const busy = { error: { status: 429, retryAfter: 0.01, message: 'Slow down' } };
const broken = { error: { status: 500, message: 'Overloaded' } };
const question = 'Well?';

/** Runs against a server that answers well at the third try, and gives the ends of the model calls. */
async function ended(ask: (recorder: Recorder, server: ModelServer) => Promise<unknown>, answers = 3) {
  await using server = await openModelServer([{ reply: [busy, broken, { text: 'Yes.' }] }]);
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('busy');
  const recorder = await session.record({ facts: false });
  expect(await ask(recorder, server)).toBe('Yes.');
  expect((await recorder.close()).errors).toEqual([]);
  expect(server.requests).toHaveLength(answers);
  const events: Event[] = await Array.fromAsync(session.replay());
  return dataOf(events, 'call.ended', 'model');
}

/** The retries of the client inside one call. */
const tried = {
  outcome: 'ok',
  attempts: 3,
  failedAttempts: [
    { status: 429, latencyMs: expect.any(Number) },
    { status: 500, latencyMs: expect.any(Number) },
  ],
};

const clientOf = ({ url }: ModelServer): OpenAI => new OpenAI({ apiKey: 'none', baseURL: url, maxRetries: 2 });

test('AI SDK: each try is a call of its own, with its error and its number', async () => {
  const ends = await ended(async (recorder, { url }) => {
    const model = createOpenAI({ baseURL: url, apiKey: 'none' }).chat('m');
    return (await recordAiSdk(recorder).generateText({ model, prompt: question, maxRetries: 2 })).text;
  });
  expect(ends).toMatchObject([
    { outcome: 'error', attempts: 1, error: { status: 429 } },
    { outcome: 'error', attempts: 2, error: { status: 500 } },
    { outcome: 'ok', attempts: 3 },
  ]);
});

test.each([
  ['chat completions', false, false],
  ['chat completions', false, true],
  ['responses', true, false],
  ['responses', true, true],
] as const)(
  'OpenAI Agents over %s: what its client tries again is told in the call (responses: %s, streamed: %s)',
  async (_, useResponses, stream) => {
    const ends = await ended(async (recorder, server) => {
      const modelProvider = new OpenAIProvider({ openAIClient: clientOf(server), useResponses });
      const runner = recordRunner(new Runner({ modelProvider }), recorder);
      const agent = new Agent({ name: 'support', model: 'm' });
      if (!stream) return (await runner.run(agent, question)).finalOutput;
      const result = await runner.run(agent, question, { stream: true });
      for await (const _event of result);
      return result.finalOutput;
    });
    expect(ends).toMatchObject([tried]);
  },
);

test('own code: what a client tries again is told in the call, of two at once in each', async () => {
  const ends = await ended(async (recorder, server) => {
    const client = clientOf(server);
    const ask = () =>
      recorder.call(
        { kind: 'model', name: 'm', request: { messages: [{ role: 'user', content: question }] } },
        () => client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: question }] }),
        ({ choices }) => ({ output: choices[0]?.message.content ?? null }),
      );
    const [first] = await Promise.all([ask(), ask()]);
    return first.choices[0]?.message.content;
  }, 4);
  const all = ends.flatMap(({ failedAttempts }) => (failedAttempts ?? []) as { status: number }[]);
  expect(all.map(({ status }) => status).toSorted()).toEqual([429, 500]);
});

test('what failed to the end, and what was asked twice on purpose, is told as it was', async () => {
  await using server = await openModelServer([{ when: { text: /never/ }, reply: busy }, { reply: { text: 'Yes.' } }]);
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('busy');
  await using recorder = await session.record({ facts: false });
  const client = clientOf(server);
  const ask = (content: string) =>
    client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] });
  const request = { messages: [] };
  await expect(recorder.call({ kind: 'model', name: 'm', request }, () => ask('never'))).rejects.toThrow('429');
  await recorder.call({ kind: 'model', name: 'm', request }, async () => [(await ask('a')).id, (await ask('b')).id]);
  await recorder.flush();
  const [failed, twice] = dataOf(await Array.fromAsync(session.replay()), 'call.ended', 'model');
  expect(failed).toMatchObject({ outcome: 'error', attempts: 3, failedAttempts: [{ status: 429 }, { status: 429 }] });
  expect(twice).not.toHaveProperty('attempts');
});

/** As the models of LangChain do it: the client is asked through the caller, which tries again. */
class ClientModel extends BaseChatModel {
  readonly #client: OpenAI;
  constructor(client: OpenAI) {
    super({ maxRetries: 0 });
    this.#client = client;
  }
  override bindTools(): this {
    return this;
  }
  _llmType(): string {
    return 'client';
  }
  async _generate(messages: BaseMessage[]) {
    const asked = messages.map(({ text }) => ({ role: 'user' as const, content: text }));
    const call = () => this.#client.chat.completions.create({ model: 'm', messages: asked });
    const { choices } = await this.caller.call(call);
    const text = choices[0]?.message.content ?? '';
    return { generations: [{ text, message: new AIMessage(text) }] };
  }
}

test('LangGraph: a model runs outside of what its callbacks can see, so that its own tries are one call without their number', async () => {
  const ends = await ended(async (recorder, server) => {
    const graph = createReactAgent({ llm: new ClientModel(clientOf(server)), tools: [] });
    const callbacks = [new RepriseCallbackHandler(recorder)];
    return (await graph.invoke({ messages: [new HumanMessage(question)] }, { callbacks })).messages.at(-1)?.text;
  });
  expect(ends).toMatchObject([{ outcome: 'ok' }]);
  expect(ends[0]).not.toHaveProperty('attempts');
});
