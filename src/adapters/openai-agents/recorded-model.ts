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
import { given } from '../../core/json.ts';
import { isMessage } from '../../core/message/message.ts';
import { propertiesOf } from '../../core/property.ts';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import { Originals } from '../../core/recording/originals.ts';
import type { CallStart, OpenCall, Recorder, ReusedAnswer } from '../../core/recording/recorder.ts';
import { actingAgent } from './acting-agent.ts';
import { itemsFromMessages } from './items-from-messages.ts';
import { endOfFailure, endOfResponse, requestOf } from './model-call.ts';
import { recordedStream } from './recorded-stream.ts';
import { rememberCall, toolAnswersOf } from './recording-memory.ts';

/** The packages whose versions a recorded run names. */
export const packages: readonly string[] = ['@openai/agents'];

/**
 * Returns a model provider whose models record the actual requests and answers, usage, ids and errors. Streams pass
 * event by event. Each call is recorded for the agent that acts; each attempt of a retried call is a separate call.
 *
 * @example
 * ```ts
 * await using recorder = await session.record();
 * const recorded = new Runner({ modelProvider: recordModels(provider, recorder) });
 * const { finalOutput } = await recorded.run(support, 'Order 7 broke.');
 * ```
 */
export function recordModels(provider: ModelProvider, recorder: Recorder): ModelProvider {
  recorder.uses(...packages);
  return {
    getModel: async (name) => {
      const model = await provider.getModel(name);
      return recordModel(model, recorder, name === undefined || name === '' ? nameOfModel(model) : name);
    },
  };
}

/** The models that record, with their names and where they record. */
const originals = new Originals<Model, { readonly name: string; readonly recorder: Recorder }>();

/** Returns a model that records under a name; one that already records elsewhere is unwrapped first. */
export function recordModel(offered: Model, recorder: Recorder, as?: string): Model {
  if (originals.factsOf(offered)?.recorder === recorder) return offered;
  const model = originals.of(offered);
  const name = as ?? nameOfModel(offered);
  const { supportsPromptModelSelection } = model;
  const wrapper: Model = {
    ...given({ supportsPromptModelSelection }),
    getResponse: async (request) => {
      const asking = askingOf(request, recorder, name);
      return respond(model, request, { ...asking, call: await asking.recorder.startCall(asking.start) });
    },
    getStreamedResponse: (request) => stream(model, request, { recorder, name }),
    // The framework asks only models that have this method.
    ...(model.getRetryAdvice === undefined ? {} : { getRetryAdvice: (failed) => model.getRetryAdvice?.(failed) }),
  };
  return originals.remember(wrapper, model, { name, recorder });
}

/** A request that is about to be recorded. */
interface Asking {
  readonly start: CallStart;
  readonly recorder: Recorder;
  readonly agent: string | undefined;
}

function askingOf(request: ModelRequest, own: Recorder, name: string): Asking {
  const agent = actingAgent();
  const recorder = recorderHere(own);
  const asked = requestOf(request, toolAnswersOf(recorder));
  return { recorder, agent, start: { kind: 'model', name, ...given({ agent }), request: asked } };
}

/** Returns the name of a model. The framework does not expose that of its own models; then it is the default one. */
export function nameOfModel(model: Model): string {
  const known = originals.factsOf(model)?.name;
  if (known !== undefined) return known;
  const { model: own, modelId, name } = propertiesOf(model);
  const told = [own, modelId, name].find((value) => typeof value === 'string' && value !== '');
  return typeof told === 'string' ? told : getDefaultModel();
}

type OpenAsking = Asking & { readonly call: OpenCall };

async function respond(model: Model, request: ModelRequest, asking: OpenAsking): Promise<ModelResponse> {
  const { call } = asking;
  if (call.answer !== undefined) return { usage: new Usage(), output: reusedOutput(call.answer) };
  let response: ModelResponse;
  try {
    response = await call.within(() => model.getResponse(request));
  } catch (error) {
    call.end(endOfFailure(error, request.signal));
    throw error;
  }
  try {
    noteAsked(response.output, asking);
    call.end(endOfResponse(response));
  } catch (error) {
    // The agent gets the answer, even if it cannot be recorded.
    call.end({ outcome: 'ok', error });
  }
  return response;
}

async function* stream(
  model: Model,
  request: ModelRequest,
  { recorder, name }: { readonly recorder: Recorder; readonly name: string },
): AsyncGenerator<StreamEvent, void, undefined> {
  const asking = askingOf(request, recorder, name);
  const call = await asking.recorder.startCall(asking.start);
  if (call.answer !== undefined) {
    const output = reusedOutput(call.answer) as Extract<StreamEvent, { type: 'response_done' }>['response']['output'];
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    yield { type: 'response_done', response: { id: '', usage, output } };
    return;
  }
  for await (const event of recordedStream(() => model.getStreamedResponse(request), {
    call,
    signal: request.signal,
  })) {
    if (event.type === 'response_done') noteAsked(event.response.output, { ...asking, call });
    yield event;
  }
}

/** Notes the tools that a model asked for: they are executed after its call has ended, outside its context. */
function noteAsked(output: ModelResponse['output'], { recorder, agent, call }: OpenAsking): void {
  for (const item of output) {
    if (item.type !== 'function_call') continue;
    call.asksFor(item.callId);
    rememberCall(recorder, item.callId, { agent, name: item.name });
  }
}

/** Returns the items of a recorded answer. */
function reusedOutput(answer: ReusedAnswer): ModelResponse['output'] {
  if (answer.outcome === 'ok' && isMessage(answer.output)) return itemsFromMessages([answer.output]);
  throw new RepriseError('effect.refused', 'Cannot answer the model call from the record: it has no message', {
    hint: 'Let model calls run: they do nothing to the world.',
  });
}
