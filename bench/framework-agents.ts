/** The agent of the recording bench in OpenAI Agents and in LangGraph: a model call, a tool, a model call, streamed. */
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { tool as langChainTool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { Agent, OpenAIProvider, tool as openaiTool, Runner, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
import type { Recorder } from '../src/core/recording/recorder.ts';
import { RepriseCallbackHandler, recordTools } from '../src/langgraph.ts';
import { recordAgent, recordModels } from '../src/openai-agents.ts';

const parameters = z.object({ order: z.number() });
const found = { paid: 50 };

/** Waits for first tokens: of a model call that begins now, and of those that begin when the one before has ended. */
class FirstTokens {
  readonly waits: number[] = [];
  readonly #started: number[] = [performance.now()];

  token(): void {
    if (this.waits.length < this.#started.length) this.waits.push(performance.now() - (this.#started.at(-1) ?? 0));
  }

  ended(): void {
    this.#started.push(performance.now());
  }
}

/** Asks an agent of OpenAI Agents, and gives the wait for each first token. */
export async function askOpenAIAgent(url: string, question: string, recorder: Recorder | undefined): Promise<number[]> {
  setTracingDisabled(true);
  const client = new OpenAI({ baseURL: url, apiKey: 'none' });
  const provider = new OpenAIProvider({ openAIClient: client, useResponses: false });
  const lookup = openaiTool({ name: 'lookup', description: 'Looks up', parameters, execute: async () => found });
  const own = new Agent({ name: 'bench', model: 'm', tools: [lookup] });
  const runner = new Runner({ modelProvider: recorder === undefined ? provider : recordModels(provider, recorder) });
  const first = new FirstTokens();
  const result = await runner.run(recorder === undefined ? own : recordAgent(own, recorder), question, {
    stream: true,
  });
  for await (const event of result) {
    if (event.type !== 'raw_model_stream_event') continue;
    if (event.data.type === 'output_text_delta') first.token();
    if (event.data.type === 'response_done') first.ended();
  }
  return first.waits;
}

/** Asks an agent of LangGraph, and gives the wait for each first token. */
export async function askGraph(
  model: ConstructorParameters<typeof StreamedModel>[0],
  question: string,
  recorder: Recorder | undefined,
): Promise<number[]> {
  const lookup = langChainTool(async () => found, { name: 'lookup', description: 'Looks up', schema: parameters });
  const tools = recorder === undefined ? [lookup] : recordTools([lookup]);
  const graph = createReactAgent({ llm: new StreamedModel(model), tools });
  const callbacks = recorder === undefined ? [] : [new RepriseCallbackHandler(recorder, { runs: false })];
  const first = new FirstTokens();
  const input = { messages: [new HumanMessage(question)] };
  for await (const [piece] of await graph.stream(input, { callbacks, streamMode: 'messages' })) {
    if (piece.getType() === 'tool') first.ended();
    else if (piece.text !== '') first.token();
  }
  return first.waits;
}

/** A chat model of LangChain over a function that gives the text of a streamed answer. */
class StreamedModel extends BaseChatModel {
  readonly #pieces: (messages: readonly object[]) => AsyncIterable<string>;

  constructor(pieces: (messages: readonly object[]) => AsyncIterable<string>) {
    super({});
    this.#pieces = pieces;
  }

  _llmType(): string {
    return 'streamed';
  }

  override bindTools(): this {
    return this;
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const isAnswered = messages.at(-1)?.getType() === 'tool';
    const asked = { id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{"order":7}' } };
    const sent = messages.map((message) => {
      if (message.getType() === 'tool') return { role: 'tool', tool_call_id: 'c1', content: message.text };
      if (message.getType() === 'human') return { role: 'user', content: message.text };
      return { role: 'assistant', content: message.text, tool_calls: [asked] };
    });
    for await (const text of this.#pieces(sent)) {
      yield new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
      await manager?.handleLLMNewToken(text);
    }
    if (isAnswered) return;
    const call = { type: 'tool_call_chunk', index: 0, id: 'c1', name: 'lookup', args: '{"order":7}' } as const;
    yield new ChatGenerationChunk({
      text: '',
      message: new AIMessageChunk({ content: '', tool_call_chunks: [call] }),
    });
  }

  async _generate(): Promise<ChatResult> {
    return { generations: [{ text: '', message: new AIMessage('Only streamed') }] };
  }
}
