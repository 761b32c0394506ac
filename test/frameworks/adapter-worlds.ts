/** The same little story in every framework that has an adapter: a model that is scripted, one tool, one question. */
import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { AIMessage, AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { tool as langChainTool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import {
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Agent as OpenAIAgent,
  tool as openaiTool,
  Runner,
  type StreamEvent,
  Usage,
} from '@openai/agents';
import { tool as aiTool, generateText, stepCountIs } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { aiSdkAgent, recordAiSdk, toModelMessages } from '../../src/ai-sdk.ts';
import {
  bareMessages,
  type Message,
  type MessageLike,
  textOf,
  toolCallsIn,
  toolResultsIn,
} from '../../src/core/message/message.ts';
import type { Agent, EffectClass, Recorder } from '../../src/index.ts';
import {
  langgraphAgent,
  RepriseCallbackHandler,
  recordTools as recordLangChainTools,
  toLangChainMessages,
} from '../../src/langgraph.ts';
import { itemsFromMessages, openaiAgent, recordRunner } from '../../src/openai-agents.ts';
import { type LittleLoop, littleAgent, runLoop } from '../verbs/little-agent.ts';
import { asks as aiAsks, partsOf, said } from './ai-sdk-world.ts';
import { asks as openaiAsks, says as openaiSays } from './openai-agents-world.ts';
import { ScriptedChatModel } from './scripted-chat-model.ts';

/** A call of the tool. */
interface Asking {
  readonly call: string;
  readonly input: { readonly order: number };
}

/** An answer of a model: a text, or calls of the tool. */
export type Say = string | Asking | readonly Asking[];

/** The calls of the tool that an answer asks for. */
export const callsOf = (say: Exclude<Say, string>): readonly Asking[] => ('call' in say ? [say] : say);

/** A model's part of the story, and what became of it. */
export class Script {
  /** The request of each model call, a line for every message. */
  readonly asked: string[][] = [];
  /** The arguments with which the tool was really executed. */
  readonly executed: number[] = [];
  /** The effect class that the agent declares for its tool. */
  effects: Readonly<Record<string, EffectClass>> = {};
  /** Waited for before each piece of a streamed answer. */
  readonly gate: ((piece: number) => Promise<void>) | undefined;
  readonly #says: readonly (Say | Error | (() => Promise<Say>))[];

  constructor(says: readonly (Say | Error | (() => Promise<Say>))[], gate?: (piece: number) => Promise<void>) {
    this.#says = says;
    this.gate = gate;
  }

  async next(lines: readonly string[]): Promise<Say> {
    const say = this.#says[Math.min(this.asked.length, this.#says.length - 1)];
    this.asked.push([...lines]);
    if (say === undefined || say instanceof Error) throw say ?? new Error('Nothing to say');
    return typeof say === 'function' ? say() : say;
  }

  execute(order: number): { readonly paid: number } {
    this.executed.push(order);
    return { paid: order * 10 };
  }
}

/** The pieces in which a text is streamed. */
const pieces = (text: string): string[] => text.split(/(?<= )/);

/** A framework, and how this project records and resumes it. */
export interface AdapterWorld {
  /** Records a run that answers a user message after the messages before it. */
  record(recorder: Recorder, script: Script, question: string, before?: readonly Message[]): Promise<unknown>;
  /** The same, streamed: tells each piece of text as it reaches the reader. */
  stream?(recorder: Recorder, script: Script, question: string, onText: (text: string) => void): Promise<void>;
  /** The agent, to be resumed. */
  agent(script: Script): Agent<never, unknown>;
  /** Options of the framework's own run call, of which `recorded` is what the log holds. */
  readonly run: { readonly given: object; readonly recorded: object };
  /** Hands a conversation to the framework itself, unrecorded. */
  handBack(script: Script, messages: readonly MessageLike[]): Promise<unknown>;
}

const line = (role: string, text: string): string => `${role}: ${text}`;
const jsonText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

// ---------------------------------------------------------------------------------------------------------- AI SDK

function aiModel(script: Script): MockLanguageModelV4 {
  const answer = async (prompt: readonly LanguageModelV4Message[]) => {
    const say = await script.next(prompt.flatMap(aiLines));
    if (typeof say === 'string') return said(say);
    return said(...callsOf(say).map(({ call, input }) => aiAsks('lookup', input, call)));
  };
  return new MockLanguageModelV4({
    modelId: 'small-1',
    doGenerate: async ({ prompt }) => answer(prompt),
    doStream: async ({ prompt }) => {
      const parts = partsOf(await answer(prompt));
      let piece = 0;
      return {
        stream: new ReadableStream({
          async pull(controller) {
            const part = parts.shift();
            if (part === undefined) return controller.close();
            if (part.type === 'text-delta') await script.gate?.(piece++);
            controller.enqueue(part);
          },
        }),
      };
    },
  });
}

function aiLines(message: LanguageModelV4Message): string[] {
  if (message.role === 'system') return [line('system', message.content)];
  return message.content.map((part) => {
    if (part.type === 'text') return line(message.role, part.text);
    if (part.type === 'tool-call') return line('call', `${part.toolCallId} ${jsonText(part.input)}`);
    if (part.type !== 'tool-result') return line(message.role, part.type);
    const { output } = part;
    return line('result', `${part.toolCallId} ${'value' in output ? jsonText(output.value) : output.type}`);
  });
}

const aiSettings = (script: Script) => ({
  model: aiModel(script),
  tools: {
    lookup: aiTool({
      description: 'Looks an order up',
      inputSchema: z.object({ order: z.number() }),
      execute: async ({ order }) => script.execute(order),
    }),
  },
  maxRetries: 0,
  stopWhen: stepCountIs(5),
});

const aiSdk: AdapterWorld = {
  record: (recorder, script, question, before = []) =>
    recordAiSdk(recorder).generateText({
      ...aiSettings(script),
      messages: [...toModelMessages(before), { role: 'user', content: question }],
    }),
  async stream(recorder, script, question, onText) {
    const { textStream } = recordAiSdk(recorder).streamText({ ...aiSettings(script), prompt: question });
    for await (const text of textStream) onText(text);
  },
  agent: (script) => aiSdkAgent(aiSettings(script), { effects: script.effects }) as Agent<never, unknown>,
  run: { given: { maxRetries: 1, temperature: 0.5 }, recorded: { maxRetries: 1, temperature: 0.5 } },
  handBack: (script, messages) => generateText({ ...aiSettings(script), messages: toModelMessages(messages) }),
};

// --------------------------------------------------------------------------------------------------- OpenAI Agents

class OpenAIModel implements Model {
  readonly script: Script;
  constructor(script: Script) {
    this.script = script;
  }

  async #output({ input }: ModelRequest): Promise<ModelResponse['output']> {
    const items = typeof input === 'string' ? [{ role: 'user', content: input } as AgentInputItem] : input;
    const say = await this.script.next(items.map(openaiLine));
    return typeof say === 'string'
      ? openaiSays(say)
      : callsOf(say).map(({ call, input }) => openaiAsks(call, 'lookup', input));
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    const usage = new Usage({ inputTokens: 10, outputTokens: 5, totalTokens: 15 });
    return { output: await this.#output(request), usage, responseId: 'resp' };
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const output = await this.#output(request);
    let piece = 0;
    const parts = output.flatMap((item) => (item.type === 'message' ? (item.content as readonly object[]) : []));
    for (const delta of parts.flatMap((part) => ('text' in part ? pieces(String(part.text)) : []))) {
      await this.script.gate?.(piece++);
      yield { type: 'output_text_delta', delta };
    }
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
    yield { type: 'response_done', response: { id: 'resp', usage, output: output as never } };
  }
}

function openaiLine(item: AgentInputItem): string {
  if (item.type === 'function_call') return line('call', `${item.callId} ${item.arguments}`);
  if (item.type === 'function_call_result') {
    const { output } = item;
    const text = typeof output === 'object' && 'text' in output ? output.text : jsonText(output);
    return line('result', `${item.callId} ${text}`);
  }
  if (!('role' in item)) return line(item.type ?? '?', '');
  const { content } = item;
  const text =
    typeof content === 'string' ? content : content.map((part) => ('text' in part ? part.text : '')).join('');
  return line(item.role, text);
}

const openaiRunner = (script: Script) =>
  new Runner({ modelProvider: { getModel: () => new OpenAIModel(script) }, tracingDisabled: true });
const openaiOf = (script: Script) =>
  new OpenAIAgent({
    name: 'support',
    model: 'small-1',
    tools: [
      openaiTool({
        name: 'lookup',
        description: 'Looks an order up',
        parameters: z.object({ order: z.number() }),
        execute: async ({ order }) => script.execute(order),
      }),
    ],
  });

const openaiAgents: AdapterWorld = {
  record: (recorder, script, question, before = []) =>
    recordRunner(openaiRunner(script), recorder).run(openaiOf(script), [
      ...itemsFromMessages(before),
      { role: 'user', content: question },
    ]),
  async stream(recorder, script, question, onText) {
    const result = await recordRunner(openaiRunner(script), recorder).run(openaiOf(script), question, { stream: true });
    for await (const event of result)
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') onText(event.data.delta);
    await result.completed;
  },
  agent: (script) =>
    openaiAgent(openaiOf(script), { runner: openaiRunner(script), effects: script.effects }) as Agent<never, unknown>,
  run: { given: { maxTurns: 4 }, recorded: { maxTurns: 4 } },
  handBack: (script, messages) => openaiRunner(script).run(openaiOf(script), itemsFromMessages(messages)),
};

// ------------------------------------------------------------------------------------------------------- LangGraph

class GraphModel extends ScriptedChatModel {
  readonly script: Script;
  constructor(script: Script, streams = false) {
    super([new AIMessage('')], { model: 'small-1', streams });
    this.script = script;
  }

  async #message(messages: BaseMessage[]): Promise<AIMessage> {
    const say = await this.script.next(messages.flatMap(graphLines));
    // Declared as never there under exactOptionalPropertyTypes.
    const usage_metadata = { input_tokens: 10, output_tokens: 5, total_tokens: 15 } as never;
    return typeof say === 'string'
      ? new AIMessage({ content: say, usage_metadata })
      : new AIMessage({
          content: '',
          usage_metadata,
          tool_calls: callsOf(say).map(({ call, input }) => ({
            type: 'tool_call',
            id: call,
            name: 'lookup',
            args: { ...input },
          })),
        });
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = await this.#message(messages);
    return { generations: [{ text: message.text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: unknown,
    run?: Parameters<ScriptedChatModel['_streamResponseChunks']>[2],
  ): AsyncGenerator<ChatGenerationChunk> {
    const { text, tool_calls = [] } = await this.#message(messages);
    const calls = tool_calls.map(({ id, name, args }) => ({ id, name, args: JSON.stringify(args), index: 0 }));
    if (calls.length > 0)
      yield new ChatGenerationChunk({
        text: '',
        message: new AIMessageChunk({ content: '', tool_call_chunks: calls as never }),
      });
    for (const [index, piece] of (text === '' ? [] : pieces(text)).entries()) {
      await this.script.gate?.(index);
      const chunk = new ChatGenerationChunk({ text: piece, message: new AIMessageChunk({ content: piece }) });
      yield chunk;
      await run?.handleLLMNewToken(piece, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

function graphLines(message: BaseMessage): string[] {
  if (message instanceof ToolMessage) return [line('result', `${message.tool_call_id} ${message.text}`)];
  const calls = message instanceof AIMessage ? (message.tool_calls ?? []) : [];
  const role = { human: 'user', ai: 'assistant' }[message.getType() as string] ?? message.getType();
  return [
    ...(message.text === '' ? [] : [line(role, message.text)]),
    ...calls.map(({ id, args }) => line('call', `${id} ${JSON.stringify(args)}`)),
  ];
}

const graphTools = (script: Script) => {
  const lookup = langChainTool(async (input: unknown) => script.execute((input as { order: number }).order), {
    name: 'lookup',
    description: 'Looks an order up',
    schema: { type: 'object', properties: { order: { type: 'number' } }, required: ['order'] },
  });
  return recordLangChainTools([lookup], undefined, { effects: script.effects });
};
const graphOf = (script: Script, streams = false) =>
  createReactAgent({ llm: new GraphModel(script, streams), tools: graphTools(script) });

const langgraph: AdapterWorld = {
  record: (recorder, script, question, before = []) =>
    graphOf(script).invoke(
      { messages: [...toLangChainMessages(before), new HumanMessage(question)] },
      { callbacks: [new RepriseCallbackHandler(recorder, { agent: 'support' })] },
    ),
  async stream(recorder, script, question, onText) {
    const stream = await graphOf(script, true).stream(
      { messages: [new HumanMessage(question)] },
      { callbacks: [new RepriseCallbackHandler(recorder)], streamMode: 'messages' },
    );
    for await (const [message] of stream)
      if (message instanceof AIMessageChunk && message.text !== '') onText(message.text);
  },
  agent: (script) => langgraphAgent(graphOf(script), { tools: graphTools(script) }) as Agent<never, unknown>,
  run: { given: { recursionLimit: 12, tags: ['night'] }, recorded: { recursionLimit: 12, tags: ['night'] } },
  handBack: (script, messages) => graphOf(script).invoke({ messages: toLangChainMessages(messages) }),
};

// -------------------------------------------------------------------------------------------------- plain function

/** A neutral message, as a model of the plain agent reads it. */
export function littleLines(message: Message): string[] {
  const text = textOf(message);
  return [
    ...(text === '' ? [] : [line(message.role, text)]),
    ...toolCallsIn(message).map(({ toolCallId, input }) => line('call', `${toolCallId} ${jsonText(input)}`)),
    ...toolResultsIn(message).map(({ toolCallId, output }) => line('result', `${toolCallId} ${jsonText(output)}`)),
  ];
}

const littleLoop = (script: Script): LittleLoop => ({
  model: async ({ messages }) => {
    const say = await script.next(messages.flatMap(littleLines));
    return typeof say === 'string'
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
  },
  tools: {
    lookup: {
      effect: script.effects['lookup'] ?? 'unknown',
      call: (input) => ({ ...script.execute((input as { order: number }).order) }),
    },
  },
});

const plain: AdapterWorld = {
  record(recorder, script, question, before = []) {
    const prompt: Message = { role: 'user', content: question };
    return recorder.run({ messages: before }, () => {
      recorder.message(prompt);
      return runLoop(littleLoop(script), { recorder, messages: before, prompt, model: null, system: null });
    });
  },
  agent: (script) => littleAgent(littleLoop(script)) as Agent<never, unknown>,
  run: { given: { retries: 2 }, recorded: { retries: 2 } },
  handBack: async (script, messages) =>
    littleLoop(script).model({ model: 'small-1', system: null, messages: bareMessages(messages) }),
};

/** Every adapter that can record and resume an agent. */
export const worlds: Readonly<Record<string, AdapterWorld>> = {
  'AI SDK': aiSdk,
  'OpenAI Agents': openaiAgents,
  LangGraph: langgraph,
  'a plain function': plain,
};
