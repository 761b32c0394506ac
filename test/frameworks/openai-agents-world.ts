/** The world of the OpenAI Agents tests: scripted models, and a recorded session. */
import {
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type StreamEvent,
  Usage,
} from '@openai/agents';
import type { Event } from '../../src/core/event/event.ts';
import { openReprise, type Recorder, type RecordOptions, type Session } from '../../src/index.ts';

/** An answer of a model: items, or an error. */
export type Saying = ModelResponse['output'] | Error;

/** A model that says one thing after the other, and keeps what it was asked. */
export class SayingModel implements Model {
  readonly requests: ModelRequest[] = [];
  readonly model: string;
  readonly #sayings: Saying[];

  constructor(sayings: readonly Saying[], model = 'saying-1') {
    this.#sayings = [...sayings];
    this.model = model;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    const output = this.#next(request);
    return { output, usage: new Usage({ inputTokens: 10, outputTokens: 4, totalTokens: 14 }), responseId: 'resp_1' };
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const output = this.#next(request) as Extract<StreamEvent, { type: 'response_done' }>['response']['output'];
    yield { type: 'response_started' };
    for (const item of output) {
      if (item.type !== 'message') continue;
      for (const piece of item.content)
        if (piece.type === 'output_text')
          for (const delta of piece.text.split(/(?<= )/)) yield { type: 'output_text_delta', delta };
    }
    const usage = { inputTokens: 10, outputTokens: 4, totalTokens: 14 };
    yield { type: 'response_done', response: { id: 'resp_1', usage, output } };
  }

  /** The items of one of the requests, from 0. */
  sent(request: number): readonly AgentInputItem[] {
    const input = this.requests[request]?.input ?? [];
    if (typeof input === 'string') throw new Error('The model was sent a text');
    return input;
  }

  #next(request: ModelRequest): ModelResponse['output'] {
    const { signal: _, ...rest } = request;
    this.requests.push(structuredClone({ ...rest, modelSettings: {} }));
    const saying = this.#sayings.shift();
    if (saying === undefined) throw new Error('The model has nothing left to say');
    if (saying instanceof Error) throw saying;
    return saying;
  }
}

/** A message of the model. */
export const says = (text: string): ModelResponse['output'] => [
  { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] },
];

/** A call of a tool. */
export const asks = (callId: string, name: string, input: object): ModelResponse['output'][number] => ({
  type: 'function_call',
  callId,
  name,
  arguments: JSON.stringify(input),
  status: 'completed',
});

/** A session that is recorded while a function runs, and its events. */
export async function recorded(
  body: (recorder: Recorder, session: Session) => Promise<void>,
  options: RecordOptions = {},
): Promise<{ readonly events: readonly Event[]; readonly session: Session }> {
  const reprise = await openReprise('memory:');
  const session = await reprise.createSession('story');
  const recorder = await session.record({ facts: false, ...options });
  await body(recorder, session);
  const report = await recorder.close();
  if (report.failed > 0) throw report.errors[0] ?? new Error('Events could not be recorded');
  return { events: await Array.fromAsync(session.replay()), session };
}

/** The events of a type, as their data. */
export function dataOf(events: readonly Event[], type: string, kind?: string): readonly Record<string, unknown>[] {
  return events
    .filter((event) => event.type === type && (kind === undefined || event.data['kind'] === kind))
    .map(({ data }) => data);
}
