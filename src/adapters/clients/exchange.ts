import { RepriseError } from '../../core/error.ts';
import type { Outcome } from '../../core/event/event.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { type Asker, noteAsked } from '../../core/recording/asked-calls.ts';
import { placeIn, recorderHere } from '../../core/recording/current-recorder.ts';
import { outcomeOfError } from '../../core/recording/error-record.ts';
import type { CallEnd, OpenCall, Recorder } from '../../core/recording/recorder.ts';
import type { FromProtocol, ProtocolAnswer, ProtocolName, ProtocolRequest } from '../../protocols/protocol.ts';
import { failureFacts, providerFacts } from './provider-facts.ts';

/** Who records the calls of a client. */
export interface ClientLane {
  readonly recorder: Recorder;
  readonly agent?: string;
}

/** The protocol that a request is made in. */
export interface SpokenProtocol {
  readonly name: ProtocolName;
  readonly from: FromProtocol;
}

/** A request as a client is about to send it. */
export interface AskedRequest {
  readonly protocol: SpokenProtocol;
  readonly body: object;
  /** The path, where it names the model. */
  readonly path?: string;
  /** Says that the caller gave up. */
  readonly signal?: AbortSignal | null | undefined;
  /** Adds the messages that a request only names: some protocols let a client name an earlier answer. */
  readonly complete?: (request: ProtocolRequest) => ProtocolRequest;
  /** Receives the answer when it is whole. */
  readonly onAnswer?: (request: ProtocolRequest, answer: ProtocolAnswer) => void;
}

/** How a call ended whose answer is not whole. */
export interface Cut {
  readonly outcome: Outcome;
  readonly error?: Error;
}

/**
 * One model call as a client makes it. Recording must not be noticed: whatever cannot be read is recorded as far as it
 * can be, and the client gets what it would have got.
 */
export class Exchange {
  readonly protocol: SpokenProtocol;
  readonly request: ProtocolRequest;
  readonly #asker: Asker;
  readonly #asked: AskedRequest;
  readonly #open: OpenCall;
  #isEnded = false;

  private constructor(asker: Asker, asked: AskedRequest, request: ProtocolRequest, open: OpenCall) {
    this.protocol = asked.protocol;
    this.request = request;
    this.#asker = asker;
    this.#asked = asked;
    this.#open = open;
  }

  /** Begins a call. Throws what a recorder throws on purpose: `budget.exceeded` and `effect.refused`. */
  static async start({ recorder: own, ...lane }: ClientLane, asked: AskedRequest): Promise<Exchange> {
    const recorder = recorderHere(own);
    const asker = { recorder, place: placeIn(recorder) };
    const request = readRequest(asked);
    const { messages, system, tools, settings, model } = request;
    const open = await recorder.startCall({
      kind: 'model',
      name: model === '' ? 'unknown' : model,
      ...given({ agent: lane.agent }),
      request: { messages, ...given({ system, tools, settings }) },
    });
    if (open.answer === undefined) return new Exchange(asker, asked, request, open);
    throw new RepriseError('effect.refused', `Cannot call the model "${model}": its answer was to be reused`, {
      hint: 'Model calls are made again when a branch is resumed; let the policy run them.',
    });
  }

  /** Runs code as part of the call. */
  within<T>(body: () => T): T {
    return this.#open.within(body);
  }

  /** Notes that the first piece of the answer arrived. */
  firstToken(): void {
    this.#open.firstToken();
  }

  /** Ends the call with the body of an answer. `cut` is how it ended if the model has not said why it stopped. */
  end(body: JsonObject, { response, cut }: { readonly response: Response; readonly cut?: Cut }): void {
    this.#tell(() => {
      const answer = this.#read(body);
      const { message } = answer;
      const isWhole = cut === undefined || answer.finishReason !== undefined || answer.error !== undefined;
      const how = isWhole ? given({ error: failureOf(answer, response) }) : cut;
      // The recorder knows which tools are asked for before the program can call them.
      if (isWhole && message !== undefined) noteAsked(this.#asker, message, this.#open);
      if (Object.keys(how).length === 0) this.#asked.onAnswer?.(this.request, answer);
      this.#open.end({ ...endOf(this.protocol.name, answer, response), ...how });
    });
  }

  /** Ends the call with an error, and with what had arrived before it. */
  fail(error: unknown, arrived?: { readonly body: JsonObject; readonly response: Response }): void {
    const outcome = this.#outcomeOf(error);
    this.#tell(() => {
      const known =
        arrived === undefined
          ? { provider: failureFacts(this.protocol.name, error) }
          : endOf(this.protocol.name, this.#read(arrived.body), arrived.response);
      this.#open.end({ ...known, outcome, error });
    });
  }

  #read(body: JsonObject): ProtocolAnswer {
    return this.protocol.from.answer(body, { request: this.request });
  }

  /** Returns how a call ended that threw; an error after a signal said stop means that it was stopped. */
  #outcomeOf(error: unknown): Outcome {
    const outcome = outcomeOfError(error);
    const isAbort = error instanceof Error && /abort/i.test(error.constructor.name);
    return outcome === 'error' && (isAbort || this.#asked.signal?.aborted === true) ? 'aborted' : outcome;
  }

  /** Tells the end, once, in a way that cannot fail the client. */
  #tell(body: () => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    try {
      body();
    } catch (error) {
      this.#open.end({ outcome: 'ok', error });
    }
  }
}

function readRequest({ protocol, body, path, complete }: AskedRequest): ProtocolRequest {
  try {
    const request = protocol.from.request(body, path);
    return complete?.(request) ?? request;
  } catch {
    // A body that no provider takes is the provider's to refuse.
    return { model: '', messages: [] };
  }
}

function endOf(protocol: ProtocolName, answer: ProtocolAnswer, response: Response): CallEnd {
  const { message, finishReason, usage } = answer;
  return { ...given({ message, finishReason, usage }), provider: providerFacts(protocol, answer, response) };
}

/** An answer that is an error, as the error that it is. */
function failureOf({ error }: ProtocolAnswer, response: Response): Error | undefined {
  if (error === undefined && response.ok) return undefined;
  const { message = `The provider answered with status ${response.status}`, type, code } = error ?? {};
  const status = response.ok ? undefined : response.status;
  return Object.assign(new Error(message), given({ name: type, code, status }));
}
