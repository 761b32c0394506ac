import type { JsonValue } from '../../core/json.ts';
import type { Usage } from '../../core/recording/recorder.ts';
import { textOfValue, valueOfText } from '../../protocols/json-text.ts';
import type { StreamOptions } from '../../protocols/protocol.ts';
import type { ScriptedRequest, SpokenReply } from './script.ts';

/** A tool that a scripted model asks for. */
interface SpokenToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
}

/** An answer of a scripted model, ready to be written in any protocol. */
export interface SpokenAnswer {
  /** The number of the answer; ids are made of it. */
  readonly number: number;
  readonly reasoning: string;
  readonly text: string;
  readonly toolCalls: readonly SpokenToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool-calls' | 'content-filter';
  readonly usage: Required<Usage>;
  /** Cuts a string into the pieces it is streamed in. */
  readonly cut: NonNullable<StreamOptions['cut']>;
}

/** Makes an answer of a reply. `callId` gives the next id of a tool call. */
export function spokenAnswer(
  reply: SpokenReply,
  request: ScriptedRequest,
  options: { readonly number: number; readonly callId: () => string },
): SpokenAnswer {
  const pieces = { text: piecesOf(reply.text), reasoning: piecesOf(reply.reasoning) };
  const [text, reasoning] = [pieces.text.join(''), pieces.reasoning.join('')];
  const toolCalls = (reply.toolCalls ?? []).map((call) => ({
    id: call.id ?? options.callId(),
    name: call.name,
    input: 'arguments' in call ? valueOfText(call.arguments) : call.input,
  }));
  const finishReason = reply.finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop');
  const spoken = [text, ...toolCalls.flatMap(({ name, input }) => [name, textOfValue(input)])].join('');
  return {
    number: options.number,
    reasoning,
    text,
    toolCalls,
    finishReason,
    usage: usageOf(reply, { asked: JSON.stringify(request.body), thought: reasoning, spoken }),
    cut: (written, kind) => (kind === 'arguments' ? cutEvery(written, 16) : pieces[kind]),
  };
}

/** A list as it is; a single text word by word. */
function piecesOf(text: string | readonly string[] | undefined): readonly string[] {
  if (typeof text !== 'string') return (text ?? []).filter((piece) => piece !== '');
  return text.match(/\s*\S+|\s+$/gu) ?? [];
}

/** By characters, not by the halves of which some consist. */
function cutEvery(text: string, length: number): readonly string[] {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / length) }, (_, index) =>
    characters.slice(index * length, (index + 1) * length).join(''),
  );
}

/** A token is four characters here. */
const tokensOf = (text: string): number => Math.ceil(text.length / 4);

function usageOf(
  { usage = {} }: SpokenReply,
  texts: { readonly asked: string; readonly thought: string; readonly spoken: string },
): Required<Usage> {
  const inputTokens = usage.inputTokens ?? tokensOf(texts.asked);
  const reasoningTokens = usage.reasoningTokens ?? tokensOf(texts.thought);
  const outputTokens = usage.outputTokens ?? reasoningTokens + tokensOf(texts.spoken);
  return {
    inputTokens,
    outputTokens,
    totalTokens: usage.totalTokens ?? inputTokens + outputTokens,
    cachedInputTokens: usage.cachedInputTokens ?? 0,
    cacheWriteTokens: usage.cacheWriteTokens ?? 0,
    reasoningTokens,
  };
}
