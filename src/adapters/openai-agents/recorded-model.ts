import {
  getDefaultModel,
  type Model,
  type ModelProvider,
  type ModelRequest,
  type ModelResponse,
  type StreamEvent,
  Usage,
} from '@openai/agents';
import { RepriseError } from '../../core/error.ts';
import { isMessage } from '../../core/message.ts';
import type { CallStart, OpenCall, Recorder, ReusedAnswer } from '../../core/recorder.ts';
import { actingAgent } from './acting-agent.ts';
import { itemsFromMessages } from './items-from-messages.ts';
import { endOfFailure, endOfResponse, requestOf } from './model-call.ts';
import { recordedStream } from './recorded-stream.ts';
import { toolAnswersOf } from './tool-answers.ts';

/**
 * A model provider whose models are recorded: what each was really sent and really said, usage, ids and errors. Streams
 * pass event by event. Who asked is the agent that acts; each try of a retried call is a call of its own.
 *
 * @example
 * ```ts
 * await using recorder = await session.record();
 * const recorded = new Runner({ modelProvider: recordModels(provider, recorder) });
 * const { finalOutput } = await recorded.run(support, 'Order 7 broke.');
 * ```
 */
export function recordModels(provider: ModelProvider, recorder: Recorder): ModelProvider {
  return {
    getModel: async (name) => {
      const model = await provider.getModel(name);
      return recordModel(model, recorder, name === undefined || name === '' ? nameOfModel(model) : name);
    },
  };
}

const recorded = new WeakSet<Model>();

/** One model, recorded under a name; one that is recorded already is given back. */
export function recordModel(model: Model, recorder: Recorder, name: string = nameOfModel(model)): Model {
  if (recorded.has(model)) return model;
  const start = (request: ModelRequest): CallStart => {
    const agent = actingAgent();
    const asked = requestOf(request, toolAnswersOf(recorder));
    return { kind: 'model', name, ...(agent === undefined ? {} : { agent }), request: asked };
  };
  const { supportsPromptModelSelection } = model;
  const wrapper: Model = {
    ...(supportsPromptModelSelection === undefined ? {} : { supportsPromptModelSelection }),
    getResponse: async (request) => respond(model, request, await recorder.startCall(start(request))),
    getStreamedResponse: (request) => stream(model, request, () => recorder.startCall(start(request))),
    // The framework asks only a model that has an opinion.
    ...(model.getRetryAdvice === undefined ? {} : { getRetryAdvice: (failed) => model.getRetryAdvice?.(failed) }),
  };
  recorded.add(wrapper);
  return wrapper;
}

/** What a model calls itself; models of the framework do not say, and then it is the default one. */
export function nameOfModel(model: Model): string {
  const { model: own, modelId, name } = model as { model?: unknown; modelId?: unknown; name?: unknown };
  const told = [own, modelId, name].find((value) => typeof value === 'string' && value !== '');
  return typeof told === 'string' ? told : getDefaultModel();
}

async function respond(model: Model, request: ModelRequest, call: OpenCall): Promise<ModelResponse> {
  if (call.answer !== undefined) return { usage: new Usage(), output: reusedOutput(call.answer) };
  try {
    const response = await call.within(() => model.getResponse(request));
    call.end(endOfResponse(response));
    return response;
  } catch (error) {
    call.end(endOfFailure(error, request.signal));
    throw error;
  }
}

async function* stream(
  model: Model,
  request: ModelRequest,
  open: () => Promise<OpenCall>,
): AsyncGenerator<StreamEvent, void, undefined> {
  const call = await open();
  if (call.answer !== undefined) {
    const output = reusedOutput(call.answer) as Extract<StreamEvent, { type: 'response_done' }>['response']['output'];
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    yield { type: 'response_done', response: { id: '', usage, output } };
    return;
  }
  yield* recordedStream(() => model.getStreamedResponse(request), { call, signal: request.signal });
}

/** A recorded answer is told as the items it was made of. */
function reusedOutput(answer: ReusedAnswer): ModelResponse['output'] {
  if (answer.outcome === 'ok' && isMessage(answer.output)) return itemsFromMessages([answer.output]);
  throw new RepriseError('effect.refused', 'Cannot answer the model call from the record: it holds no message', {
    hint: 'Let model calls run: they do nothing to the world.',
  });
}
