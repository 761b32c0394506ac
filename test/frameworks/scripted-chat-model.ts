/** A scripted chat model of LangChain, which answers whole or in pieces and keeps its requests. */
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import type { BaseLanguageModelInput } from '@langchain/core/language_models/base';
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import type { Runnable } from '@langchain/core/runnables';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';

/** One answer: a message, an error to throw, or what to make of the messages. */
export type Answer = AIMessage | Error | ((messages: readonly BaseMessage[]) => AIMessage);

interface Options extends BaseChatModelCallOptions {
  tools?: unknown[];
}

/** Answers in order; the last answer again and again. */
export class ScriptedChatModel extends BaseChatModel<Options> {
  readonly model: string;
  readonly asked: BaseMessage[][] = [];
  readonly #answers: readonly Answer[];
  readonly #streams: boolean;

  constructor(answers: readonly Answer[], options: { readonly model?: string; readonly streams?: boolean } = {}) {
    super({ maxRetries: 0 });
    this.#answers = answers;
    this.model = options.model ?? 'scripted-1';
    this.#streams = options.streams ?? false;
    if (!this.#streams) this.disableStreaming = true;
  }

  override _llmType(): string {
    return 'scripted';
  }

  override getLsParams(options: this['ParsedCallOptions']) {
    return { ...super.getLsParams(options), ls_model_name: this.model };
  }

  override invocationParams(options?: this['ParsedCallOptions']): Record<string, unknown> {
    return { temperature: 0, ...(options?.tools === undefined ? {} : { tools: options.tools }) };
  }

  override bindTools(tools: BindToolsInput[]): Runnable<BaseLanguageModelInput, AIMessageChunk, Options> {
    return this.withConfig({ tools: tools.map((tool) => convertToOpenAITool(tool as never)) } as Partial<Options>);
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = this.#next(messages);
    return { generations: [{ text: message.text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { text, usage_metadata } = this.#next(messages);
    for (const piece of text.match(/.{1,4}/gs) ?? []) {
      const chunk = new ChatGenerationChunk({ text: piece, message: new AIMessageChunk({ content: piece }) });
      yield chunk;
      await run?.handleLLMNewToken(piece, undefined, undefined, undefined, undefined, { chunk });
    }
    yield new ChatGenerationChunk({
      text: '',
      message: new AIMessageChunk({ content: '', ...(usage_metadata === undefined ? {} : { usage_metadata }) }),
    });
  }

  #next(messages: BaseMessage[]): AIMessage {
    const answer = this.#answers[Math.min(this.asked.length, this.#answers.length - 1)];
    this.asked.push([...messages]);
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? answer(messages) : (answer as AIMessage);
  }
}

/** An answer that asks for a tool. */
export const asks = (name: string, args: Record<string, unknown>, id: string): AIMessage =>
  new AIMessage({ content: '', tool_calls: [{ type: 'tool_call', id, name, args }] });
