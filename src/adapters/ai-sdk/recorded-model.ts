import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  ProviderV4,
} from '@ai-sdk/provider';
import { gateway, type LanguageModel, wrapLanguageModel } from 'ai';
import { RepriseError } from '../../core/error.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { propertiesOf } from '../../core/property.ts';
import { outcomeOfError } from '../../core/recording/error-record.ts';
import type { CallEnd, OpenCall, Recorder } from '../../core/recording/recorder.ts';
import { answerEnd } from './model-answer.ts';
import { modelRequest, shownHeaders } from './model-request.ts';
import { plainObject } from './plain-json.ts';
import { isShaped, plainTarget, type RecordingTarget } from './recording-target.ts';
import { StreamedAnswer } from './streamed-answer.ts';

/** How to record a model. */
export interface RecordModelOptions {
  /** The agent's name in the log. */
  readonly agent?: string;
}

const modelKeys: KnownKeys = optionKeys<RecordModelOptions>('record the model', { agent: true }, 'a recording');

/**
 * Returns a model that records every call: the actual request and answer, tokens, finish reason, errors. Streams pass
 * part by part. Each attempt of a retried call is recorded as a call with its number.
 *
 * @example
 * ```ts
 * const recorder = await session.record();
 * await generateText({ model: recordModel(model, recorder), prompt: 'Hello?' });
 * await recorder.close();
 * ```
 */
export function recordModel(
  model: LanguageModel,
  recorder: Recorder,
  options: RecordModelOptions = {},
): LanguageModelV4 {
  checkKeys(options, modelKeys);
  return modelAt(plainTarget(recorder, options.agent), model);
}

/** A model that records, what it was made of, and where it records. */
interface KnownModel {
  readonly recorded: LanguageModelV4;
  readonly given: LanguageModel;
  readonly target: RecordingTarget;
}

const recordedModels = new WeakMap<object, KnownModel>();

/** Returns a model that records in a target; one that already records elsewhere is unwrapped first. */
export function modelAt(target: RecordingTarget, model: LanguageModel): LanguageModelV4 {
  const known = typeof model === 'string' ? undefined : recordedModels.get(model);
  if (known?.target === target) return known.recorded;
  const original = known?.given ?? model;
  const attempts = new WeakMap<object, number>();
  const recorded = wrapLanguageModel({
    model: typeof original === 'string' ? namedModel(original) : original,
    middleware: {
      specificationVersion: 'v4',
      wrapGenerate: ({ doGenerate, params, model: inner }) => {
        return recordGenerate({ target, params, model: inner, attempts: countAttempt(attempts, params) }, doGenerate);
      },
      wrapStream: ({ doStream, params, model: inner }) => {
        return recordStream({ target, params, model: inner, attempts: countAttempt(attempts, params) }, doStream);
      },
    },
  });
  recordedModels.set(recorded, { recorded, given: original, target });
  return recorded;
}

/** Returns the model behind one that records; any other model as it is. */
export function originalModel(model: LanguageModel): LanguageModel {
  return typeof model === 'string' ? model : (recordedModels.get(model)?.given ?? model);
}

/** Returns the model of a name, as the AI SDK finds it. */
function namedModel(id: string): LanguageModelV4 {
  const chosen = propertiesOf(globalThis)['AI_SDK_DEFAULT_PROVIDER'];
  return (isProvider(chosen) ? chosen : gateway).languageModel(id);
}

const isProvider = (value: unknown): value is ProviderV4 => typeof propertiesOf(value)['languageModel'] === 'function';

/** Counts the attempts of a request: the AI SDK retries with the same prompt object; a new request has a new one. */
function countAttempt(attempts: WeakMap<object, number>, { prompt }: LanguageModelV4CallOptions): number {
  const attempt = (attempts.get(prompt) ?? 0) + 1;
  attempts.set(prompt, attempt);
  return attempt;
}

interface ModelCall {
  readonly target: RecordingTarget;
  readonly model: LanguageModelV4;
  readonly params: LanguageModelV4CallOptions;
  readonly attempts: number;
}

async function startModel({ target, model, params }: ModelCall): Promise<OpenCall> {
  const { recorder, agent } = target;
  const request = modelRequest(params, { isShaped: (id) => isShaped(recorder, id) });
  const open = await target.within(() => {
    target.onRequest?.(params.prompt);
    return recorder.startCall({
      kind: 'model',
      name: model.modelId,
      ...given({ agent }),
      request,
    });
  });
  if (open.answer === undefined) return open;
  throw new RepriseError(
    'effect.refused',
    `Cannot call the model "${model.modelId}": a guard answered it from the record`,
    {
      hint: 'Let model calls run: the AI SDK adapter cannot answer them from the record.',
    },
  );
}

async function recordGenerate(
  call: ModelCall,
  doGenerate: () => PromiseLike<LanguageModelV4GenerateResult>,
): Promise<LanguageModelV4GenerateResult> {
  const open = await startModel(call);
  let result: LanguageModelV4GenerateResult;
  try {
    result = await open.within(doGenerate);
  } catch (error) {
    open.end(failureEnd(call, error));
    throw error;
  }
  recordSafely(open, () => {
    for (const part of result.content) if (part.type === 'tool-call') open.asksFor(part.toolCallId);
    open.end({ ...answerEnd(result, call.model.provider), attempts: call.attempts });
  });
  return result;
}

/** Records part of an answer. If that fails, the answer still reaches the agent, and the call ends with the error. */
function recordSafely(open: OpenCall, note: () => void): void {
  try {
    note();
  } catch (error) {
    open.end({ outcome: 'ok', error });
  }
}

async function recordStream(
  call: ModelCall,
  doStream: () => PromiseLike<LanguageModelV4StreamResult>,
): Promise<LanguageModelV4StreamResult> {
  const open = await startModel(call);
  try {
    const result = await open.within(doStream);
    return { ...result, stream: watchedStream(call, open, result) };
  } catch (error) {
    open.end(failureEnd(call, error));
    throw error;
  }
}

/** Returns the same stream, part by part as it is read: it delays nothing and reads nothing ahead. */
function watchedStream(
  call: ModelCall,
  open: OpenCall,
  { stream, response }: LanguageModelV4StreamResult,
): ReadableStream<LanguageModelV4StreamPart> {
  const reader = stream.getReader();
  const said = new StreamedAnswer(response?.headers);
  const end = (more: CallEnd): void =>
    open.end({ ...answerEnd(said.answer, call.model.provider), attempts: call.attempts, ...more });
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      async pull(controller) {
        try {
          const { done, value } = await open.within(() => reader.read());
          if (done) {
            recordSafely(open, () => end(said.failure ?? (said.isFinished ? {} : { outcome: 'interrupted' })));
            controller.close();
            return;
          }
          recordSafely(open, () => {
            notePart(open, value);
            said.add(value);
            if (value.type === 'finish') end(said.failure ?? {});
          });
          controller.enqueue(value);
        } catch (error) {
          recordSafely(open, () => end(failureEnd(call, error, said)));
          controller.error(error);
        }
      },
      cancel(reason) {
        recordSafely(open, () => end({ outcome: 'aborted' }));
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Notes a tool call and the first token before the reader acts on the part. */
function notePart(open: OpenCall, part: LanguageModelV4StreamPart): void {
  if (part.type === 'tool-call') open.asksFor(part.toolCallId);
  if (firstParts.has(part.type)) open.firstToken();
  if (part.type === 'text-delta') open.text(part.delta);
}

const firstParts: ReadonlySet<string> = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-input-start',
  'tool-call',
  'file',
]);

function failureEnd(call: ModelCall, error: unknown, said?: StreamedAnswer): CallEnd {
  const known = said === undefined ? {} : answerEnd(said.answer, call.model.provider);
  return {
    outcome: outcomeOfError(error, call.params.abortSignal),
    error,
    attempts: call.attempts,
    provider: { ...known.provider, ...failureFacts(error, call.model.provider) },
  };
}

/** The most units of a recorded error body: some providers answer with whole pages. */
const bodyUnitsMax = 10_000;

/** Returns what a provider said when it refused a request. */
function failureFacts(error: unknown, name: string): JsonObject {
  if (!(error instanceof Error) || !('statusCode' in error)) return { name };
  const { statusCode, responseBody, responseHeaders, isRetryable } = propertiesOf(error);
  const headers = shownHeaders(propertiesOf(responseHeaders));
  const body = typeof responseBody === 'string' ? responseBody.slice(0, bodyUnitsMax) : undefined;
  return plainObject({ name, status: statusCode, isRetryable, headers, body });
}
