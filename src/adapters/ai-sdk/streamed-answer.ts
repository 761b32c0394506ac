import type { LanguageModelV4Content, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { given } from '../../core/json.ts';
import type { ModelAnswer } from './model-answer.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Block = Extract<LanguageModelV4Content, { type: 'text' | 'reasoning' }>;
type StartedInput = Extract<LanguageModelV4Content, { type: 'tool-call' }>;

/** Builds an answer from the parts of a stream. */
export class StreamedAnswer {
  readonly #answer: Writable<ModelAnswer> & { content: LanguageModelV4Content[] } = { content: [] };
  readonly #blocks = new Map<string, Block>();
  readonly #inputs = new Map<string, StartedInput>();
  #failure: { readonly error: unknown } | undefined;

  constructor(headers: Readonly<Record<string, string>> | undefined) {
    if (headers !== undefined) this.#answer.response = { headers };
  }

  /** The answer so far; arguments that were cut off become a tool call with the text that arrived. */
  get answer(): ModelAnswer {
    return { ...this.#answer, content: [...this.#answer.content, ...this.#inputs.values()] };
  }

  /** The first error in the stream. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** Whether the model has finished. */
  get isFinished(): boolean {
    return this.#answer.finishReason !== undefined;
  }

  /** Adds a part. */
  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        return this.#begin(part);
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end':
        return this.#extend(part);
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
        return this.#input(part);
      case 'tool-call':
        this.#inputs.delete(part.toolCallId);
        this.#answer.content.push(part);
        return;
      default:
        return this.#note(part);
    }
  }

  #begin(part: Extract<LanguageModelV4StreamPart, { type: 'text-start' | 'reasoning-start' }>): void {
    const type = part.type === 'text-start' ? 'text' : 'reasoning';
    const { providerMetadata } = part;
    const block: Block = { type, text: '', ...given({ providerMetadata }) };
    this.#blocks.set(`${type} ${part.id}`, block);
    this.#answer.content.push(block);
  }

  #extend(part: Extract<LanguageModelV4StreamPart, { type: `${'text' | 'reasoning'}-${'delta' | 'end'}` }>): void {
    const block = this.#blocks.get(`${part.type.startsWith('text') ? 'text' : 'reasoning'} ${part.id}`);
    if (block === undefined) return;
    if ('delta' in part) block.text += part.delta;
    if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
    if (block.type === 'text' && 'citations' in part && part.citations !== undefined) block.citations = part.citations;
  }

  #input(part: Extract<LanguageModelV4StreamPart, { type: `tool-input-${string}` }>): void {
    if (part.type === 'tool-input-start') {
      this.#inputs.set(part.id, { type: 'tool-call', toolCallId: part.id, toolName: part.toolName, input: '' });
    } else if (part.type === 'tool-input-delta') {
      const started = this.#inputs.get(part.id);
      if (started !== undefined) started.input += part.delta;
    }
  }

  #note(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'stream-start':
        this.#answer.warnings = part.warnings;
        break;
      case 'response-metadata': {
        const { type: _type, ...metadata } = part;
        this.#answer.response = { ...this.#answer.response, ...metadata };
        break;
      }
      case 'finish':
        this.#answer.finishReason = part.finishReason;
        this.#answer.usage = part.usage;
        if (part.providerMetadata !== undefined) this.#answer.providerMetadata = part.providerMetadata;
        break;
      case 'error':
        this.#failure ??= { error: part.error };
        break;
      case 'file':
      case 'reasoning-file':
      case 'source':
      case 'custom':
      case 'tool-result':
      case 'tool-approval-request':
        this.#answer.content.push(part);
        break;
      default:
    }
  }
}
