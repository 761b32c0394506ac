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
import type { CallEnd, OpenCall, Recorder } from '../../core/recording/recorder.ts';
import { isShaped, type Lane, noteAsked, outcomeOf, plainLane } from './lane.ts';
import { answerEnd } from './model-answer.ts';
import { modelRequest, shownHeaders } from './model-request.ts';
import { plainObject } from './plain-json.ts';
import { StreamedAnswer } from './streamed-answer.ts';

/** How a model is recorded. */
export interface RecordModelOptions {
  /** What the agent is called in the log. */
  readonly agent?: string;
}

const modelKeys: KnownKeys = optionKeys<RecordModelOptions>('record the model', { agent: true }, 'a recording');

/**
 * Gives a model that records every call: what it was really sent, what it really said, tokens, finish reason, errors.
 * Streams pass part by part. Each attempt of a retried call is a call of its own, and says which one it was.
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
  return modelIn(plainLane(recorder, options.agent), model);
}

/** The models that were recorded, so that none is twice, and one can be recorded elsewhere. */
const originals = new WeakMap<object, { readonly model: LanguageModel; readonly lane: Lane }>();

/** A model that records in a lane. One that records already is taken out of where it did. */
export function modelIn(lane: Lane, model: LanguageModel): LanguageModelV4 {
  const known = typeof model === 'string' ? undefined : originals.get(model);
  if (known?.lane === lane) return model as LanguageModelV4;
  const original = known?.model ?? model;
  const attempts = new WeakMap<object, number>();
  const recorded = wrapLanguageModel({
    model: typeof original === 'string' ? namedModel(original) : original,
    middleware: {
      specificationVersion: 'v4',
      wrapGenerate: ({ doGenerate, params, model: inner }) => {
        return recordGenerate({ lane, params, model: inner, attempts: countAttempt(attempts, params) }, doGenerate);
      },
      wrapStream: ({ doStream, params, model: inner }) => {
        return recordStream({ lane, params, model: inner, attempts: countAttempt(attempts, params) }, doStream);
      },
    },
  });
  originals.set(recorded, { model: original, lane });
  return recorded;
}

/** The model itself, also of one that records. */
export function originalModel(model: LanguageModel): LanguageModel {
  return typeof model === 'string' ? model : (originals.get(model)?.model ?? model);
}

/** The model of a name, as the AI SDK finds it. */
function namedModel(id: string): LanguageModelV4 {
  const provider = (globalThis as { AI_SDK_DEFAULT_PROVIDER?: ProviderV4 }).AI_SDK_DEFAULT_PROVIDER ?? gateway;
  return provider.languageModel(id) as LanguageModelV4;
}

/** The AI SDK retries with the very same prompt; a new question is a new list. */
function countAttempt(attempts: WeakMap<object, number>, { prompt }: LanguageModelV4CallOptions): number {
  const attempt = (attempts.get(prompt) ?? 0) + 1;
  attempts.set(prompt, attempt);
  return attempt;
}

interface ModelCall {
  readonly lane: Lane;
  readonly model: LanguageModelV4;
  readonly params: LanguageModelV4CallOptions;
  readonly attempts: number;
}

async function startModel({ lane, model, params }: ModelCall): Promise<OpenCall> {
  const { recorder, agent } = lane;
  const request = modelRequest(params, { isShaped: (id) => isShaped(recorder, id) });
  const open = await lane.within(() => {
    lane.onRequest?.(params.prompt);
    return recorder.startCall({
      kind: 'model',
      name: model.modelId,
      ...given({ agent }),
      request,
    });
  });
  if (open.answer === undefined) return open;
  throw new RepriseError('effect.refused', `Cannot call the model "${model.modelId}": its answer was to be reused`, {
    hint: 'Model calls are made again when a branch is resumed; let the policy run them',
  });
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
  unnoticed(open, () => {
    for (const part of result.content) {
      if (part.type === 'tool-call') noteAsked(call.lane, part.toolCallId, open);
    }
    open.end({ ...answerEnd(result as never, call.model.provider), attempts: call.attempts });
  });
  return result;
}

/** An answer that cannot be recorded, such as one that no provider should give, is still the answer. */
function unnoticed(open: OpenCall, note: () => void): void {
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

/** The same stream, part by part as it is read: nothing is kept back, and nothing is asked for ahead of the reader. */
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
            unnoticed(open, () => end(said.failure ?? (said.isFinished ? {} : { outcome: 'interrupted' })));
            controller.close();
            return;
          }
          unnoticed(open, () => {
            hear(call, open, value);
            said.add(value);
            if (value.type === 'finish') end(said.failure ?? {});
          });
          controller.enqueue(value);
        } catch (error) {
          unnoticed(open, () => end(failureEnd(call, error, said)));
          controller.error(error);
        }
      },
      cancel(reason) {
        unnoticed(open, () => end({ outcome: 'aborted' }));
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Notes what has to be known before the reader acts on a part. */
function hear(call: ModelCall, open: OpenCall, part: LanguageModelV4StreamPart): void {
  if (part.type === 'tool-call') noteAsked(call.lane, part.toolCallId, open);
  if (firstParts.has(part.type)) open.firstToken();
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
    outcome: outcomeOf(error, call.params.abortSignal),
    error,
    attempts: call.attempts,
    provider: { ...known.provider, ...failureFacts(error, call.model.provider) },
  };
}

/** A refusal says what is wrong at its beginning; some providers answer with whole pages. */
const bodyUnitsMax = 10_000;

/** What a provider said when it refused. */
function failureFacts(error: unknown, name: string): JsonObject {
  if (!(error instanceof Error) || !('statusCode' in error)) return { name };
  const { statusCode, responseBody, responseHeaders, isRetryable } = error as unknown as Readonly<
    Record<string, unknown>
  >;
  const headers = shownHeaders(responseHeaders as Record<string, string> | undefined);
  const body = typeof responseBody === 'string' ? responseBody.slice(0, bodyUnitsMax) : undefined;
  return plainObject({ name, status: statusCode, isRetryable, headers, body });
}
