import type { JsonValue } from '../../core/json.ts';
import type { ScriptedRequest, SpokenReply } from './script.ts';

/** A tool call of an answer, in the forms that the protocols need. */
export interface AnsweredToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  /** The input as text, and the pieces it is streamed in. */
  readonly arguments: string;
  readonly pieces: readonly string[];
}

/** The token counts of an answer. */
interface AnswerUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
}

/** An answer of a scripted model, ready for any protocol. */
export interface ModelAnswer {
  /** The number of the answer, for its ids. */
  readonly number: number;
  readonly reasoning: readonly string[];
  readonly text: readonly string[];
  readonly toolCalls: readonly AnsweredToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool-calls' | 'content-filter';
  readonly usage: AnswerUsage;
}

/** Returns the answer for a reply. `callId` returns the next id of a tool call. */
export function modelAnswer(
  reply: SpokenReply,
  request: ScriptedRequest,
  options: { readonly number: number; readonly callId: () => string },
): ModelAnswer {
  const reasoning = piecesOf(reply.reasoning);
  const text = piecesOf(reply.text);
  const toolCalls = (reply.toolCalls ?? []).map((call) => {
    const written = 'arguments' in call ? call.arguments : JSON.stringify(call.input);
    const input = 'arguments' in call ? inputOf(call.arguments) : call.input;
    return { id: call.id ?? options.callId(), name: call.name, input, arguments: written, pieces: cut(written, 16) };
  });
  const finishReason = reply.finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop');
  const spoken = [...text, ...toolCalls.flatMap(({ name, arguments: written }) => [name, written])].join('');
  const usage = usageOf(reply, { asked: JSON.stringify(request.body), thought: reasoning.join(''), spoken });
  return { number: options.number, reasoning, text, toolCalls, finishReason, usage };
}

/** Returns the input of a tool call; text that is not JSON stays text. */
export function inputOf(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** Returns a list as it is, and a single text word by word. */
function piecesOf(text: string | readonly string[] | undefined): readonly string[] {
  if (typeof text !== 'string') return (text ?? []).filter((piece) => piece !== '');
  return text.match(/\s*\S+|\s+$/gu) ?? [];
}

/** Cuts a text into pieces, never in the middle of a character. */
function cut(text: string, length: number): readonly string[] {
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
): AnswerUsage {
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
