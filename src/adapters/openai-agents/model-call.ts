import type {
  ModelRequest as FrameworkRequest,
  Usage as FrameworkUsage,
  ModelResponse,
  protocol,
} from '@openai/agents';
import { given, isObject, type JsonObject, type JsonValue, valueAt } from '../../core/json.ts';
import { outcomeOfError } from '../../core/recording/error-record.ts';
import type { CallEnd, ModelRequest, Usage } from '../../core/recording/recorder.ts';
import { messageOfOutput, messagesOfInput } from './messages-from-items.ts';
import { jsonFields, toJson } from './provider-fields.ts';
import type { ToolAnswers } from './recording-memory.ts';

/** Returns the actual request to a model in the neutral form. */
export function requestOf(request: FrameworkRequest, answers: ToolAnswers): ModelRequest {
  const { systemInstructions: system } = request;
  return {
    messages: messagesOfInput(request.input, answers),
    ...given({ system }),
    tools: toolsOf(request),
    settings: settingsOf(request),
  };
}

/** Returns the tools of a request; a model sees a handoff as one more function. */
function toolsOf(request: FrameworkRequest): readonly JsonValue[] {
  const handoffs = request.handoffs.map(({ toolName, toolDescription, inputJsonSchema, strictJsonSchema }) => ({
    type: 'function',
    name: toolName,
    description: toolDescription,
    parameters: inputJsonSchema,
    strict: strictJsonSchema,
    handoff: true,
  }));
  return [...request.tools, ...handoffs].map((tool) => jsonFields(tool));
}

/** The names of settings that are not part of the framework's `ModelSettings`. */
export const requestSettings = ['outputType', 'previousResponseId', 'conversationId', 'prompt'] as const;

function settingsOf(request: FrameworkRequest): JsonObject {
  const { outputType, previousResponseId, conversationId, prompt } = request;
  const { retry, ...settings } = request.modelSettings;
  // The program decides about retries; each attempt is recorded as a call.
  const { policy: _, ...retries } = retry ?? {};
  return jsonFields({
    ...settings,
    retry: Object.keys(retries).length === 0 ? undefined : retries,
    outputType: outputType === 'text' ? undefined : outputType,
    previousResponseId,
    conversationId,
    prompt,
  });
}

/** Returns the end of a call for a response. */
export function endOfResponse(response: ModelResponse): CallEnd {
  const { output, responseId, requestId, providerData } = response;
  return endOf(output, { responseId, requestId, usage: usageOf(response.usage), providerData });
}

/** Returns the end of a call for a streamed response; `told` has what its pieces said besides the answer. */
export function endOfStream({ response }: protocol.StreamEventResponseCompleted, told: JsonObject): CallEnd {
  const { id, requestId, usage, output } = response;
  const providerData = { ...told, ...response.providerData };
  return endOf(output, { responseId: id, requestId, usage: usageOf(usage), providerData });
}

/** Adds what a piece of a chat completion says besides its text: the model, and in the last piece why it stopped. */
export function toldByPiece(told: JsonObject, piece: JsonObject): JsonObject {
  const reason = valueAt(piece, ['choices', '0', 'finish_reason']);
  if (!Array.isArray(piece['choices'])) return told;
  const choices = typeof reason === 'string' ? { choices: [{ finish_reason: reason }] } : {};
  return { ...told, ...scalarsOf(piece), ...choices };
}

interface Facts {
  readonly responseId: string | undefined;
  readonly requestId: string | undefined;
  readonly usage: Usage | undefined;
  readonly providerData: Readonly<Record<string, unknown>> | undefined;
}

function endOf(output: ModelResponse['output'], facts: Facts): CallEnd {
  const { responseId, requestId, usage } = facts;
  const raw = isObject(facts.providerData) ? facts.providerData : {};
  const finishReason = finishReasonOf(raw, output);
  const provider = toJson({ ...scalarsOf(raw), responseId: responseId === '' ? undefined : responseId, requestId });
  return {
    message: messageOfOutput(output),
    ...given({ finishReason, usage }),
    ...(isObject(provider) && Object.keys(provider).length > 0 ? { provider } : {}),
  };
}

const scalarLengthMax = 200;

/** Returns the small values of the provider's raw answer: the message has the rest. */
function scalarsOf(raw: JsonObject): JsonObject {
  const isScalar = ([key, value]: [string, JsonValue]): boolean =>
    key !== 'id' &&
    key !== '_request_id' &&
    (typeof value === 'number' ||
      typeof value === 'boolean' ||
      (typeof value === 'string' && value.length <= scalarLengthMax));
  return Object.fromEntries(Object.entries(raw).filter(isScalar));
}

const reasons: Readonly<Record<string, string>> = {
  stop: 'stop',
  length: 'length',
  max_output_tokens: 'length',
  tool_calls: 'tool-calls',
  content_filter: 'content-filter',
};

/** Returns why the model stopped, if the provider says so, in the words of chat completions or of responses. */
function finishReasonOf(raw: JsonObject, output: ModelResponse['output']): string | undefined {
  const told = valueAt(raw, ['choices', '0', 'finish_reason']) ?? valueAt(raw, ['incomplete_details', 'reason']);
  if (typeof told === 'string') return Object.hasOwn(reasons, told) ? reasons[told] : told;
  if (raw['status'] !== 'completed') return undefined;
  return output.some(({ type }) => type === 'function_call') ? 'tool-calls' : 'stop';
}

type AnyUsage = FrameworkUsage | protocol.UsageData;

/** Returns the usage; undefined if nothing was counted: an all-zero usage is the framework's empty one. */
function usageOf(usage: AnyUsage | undefined): Usage | undefined {
  if (usage === undefined || (usage.inputTokens === 0 && usage.outputTokens === 0 && usage.totalTokens === 0))
    return undefined;
  const input = detailsOf(usage.inputTokensDetails);
  const output = detailsOf(usage.outputTokensDetails);
  return {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    totalTokens: usage.totalTokens,
    ...given({
      cachedInputTokens: input['cached_tokens'] ?? input['cached_input_tokens'],
      cacheWriteTokens: input['cache_write_tokens'],
      reasoningTokens: output['reasoning_tokens'],
    }),
  };
}

type Details = Readonly<Record<string, number>>;

function detailsOf(details: Details | Details[] | undefined): Details {
  const sums: Record<string, number> = {};
  for (const each of [details ?? {}].flat())
    for (const [name, count] of Object.entries(each)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

/** Returns the end of a failed call; it is aborted if its caller gave up. */
export function endOfFailure(error: unknown, signal: AbortSignal | undefined): CallEnd {
  return { outcome: outcomeOfError(error, signal), error };
}
