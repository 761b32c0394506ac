import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4ResponseMetadata,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { given, type JsonObject, type JsonValue } from '../../core/json.ts';
import { type Message, type MessagePart, partFrom } from '../../core/message/message.ts';
import { jsonOrText } from '../../core/recording/plain-json.ts';
import type { CallEnd, Usage } from '../../core/recording/recorder.ts';
import { shownHeaders } from './model-request.ts';
import { neutralData, shortContent } from './neutral-message.ts';
import { plainJson, plainObject } from './plain-json.ts';

/** The answer of a model, or the part of it that arrived. */
export interface ModelAnswer {
  readonly content: readonly LanguageModelV4Content[];
  readonly finishReason?: LanguageModelV4FinishReason;
  readonly usage?: LanguageModelV4Usage;
  readonly providerMetadata?: SharedV4ProviderMetadata;
  readonly warnings?: readonly SharedV4Warning[];
  readonly response?: LanguageModelV4ResponseMetadata & { readonly headers?: Readonly<Record<string, string>> };
}

/** Returns an answer as the end of a call. The message is what goes back to the model; `provider` has the rest. */
export function answerEnd(answer: ModelAnswer, providerName: string): CallEnd {
  const { content, finishReason, usage } = answer;
  const message = answerMessage(content);
  return {
    ...given({ message }),
    ...(finishReason === undefined ? {} : { finishReason: finishReason.unified }),
    ...(usage === undefined ? {} : { usage: neutralUsage(usage) }),
    provider: providerFacts(answer, providerName),
  };
}

/** Returns the assistant message as the AI SDK will send it back; undefined if the model said nothing. */
function answerMessage(content: readonly LanguageModelV4Content[]): Message | undefined {
  const parts = content.flatMap(answerPart);
  return parts.length === 0 ? undefined : { role: 'assistant', content: shortContent(parts) };
}

function answerPart(part: LanguageModelV4Content): MessagePart[] {
  const { providerMetadata } = part;
  const options = providerMetadata === undefined ? {} : { providerOptions: plainJson(providerMetadata) };
  const { providerMetadata: _, ...made } = answerFields(part) ?? {};
  if (Object.keys(made).length === 0 || (part.type === 'text' && part.text === '' && providerMetadata === undefined))
    return [];
  return [partFrom({ ...made, ...options })];
}

function answerFields(part: LanguageModelV4Content): JsonObject | undefined {
  switch (part.type) {
    case 'source':
      return undefined;
    case 'text':
      return { type: part.type, text: part.text };
    case 'file':
    case 'reasoning-file':
      return { ...plainObject(part), data: neutralData(part.data) };
    case 'tool-call': {
      const { input, dynamic: _dynamic, ...rest } = part;
      return { ...plainObject(rest), input: parsedInput(input) };
    }
    case 'tool-result': {
      const { result, preliminary, dynamic: _dynamic, ...rest } = part;
      return preliminary === true ? undefined : { ...plainObject(rest), output: plainJson(result) };
    }
    default:
      return plainObject(part);
  }
}

/** Reads the arguments of a tool call, which arrive as text. */
const parsedInput = (input: string): JsonValue => (input.trim() === '' ? {} : jsonOrText(input));

function neutralUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  const [input, output] = [inputTokens?.total, outputTokens?.total];
  return given({
    inputTokens: input,
    outputTokens: output,
    totalTokens: input === undefined || output === undefined ? undefined : input + output,
    cachedInputTokens: inputTokens?.cacheRead,
    cacheWriteTokens: inputTokens?.cacheWrite,
    reasoningTokens: outputTokens?.reasoning,
  });
}

function providerFacts(answer: ModelAnswer, name: string): JsonObject {
  const { content, finishReason, usage, providerMetadata, warnings = [], response } = answer;
  const headers = shownHeaders(response?.headers);
  const raw = finishReason?.raw;
  return plainObject({
    name,
    id: response?.id,
    model: response?.modelId,
    time: response?.timestamp,
    headers: Object.keys(headers).length > 0 ? headers : undefined,
    metadata: providerMetadata,
    warnings: warnings.length > 0 ? warnings : undefined,
    finishReason: raw === finishReason?.unified ? undefined : raw,
    usage: usage?.raw,
    content: content.some(isMore) ? content : undefined,
  });
}

/** Returns true if a part contains something that the message has no place for. */
const isMore = (part: LanguageModelV4Content): boolean =>
  part.type === 'source' || (part.type === 'text' && part.citations !== undefined);
