import type {
  JSONRPCMessage,
  JSONRPCRequest,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { given, type JsonObject } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { recorderHere } from '../../core/recording/current-recorder.ts';
import { checkDeclared, type EffectClass } from '../../core/recording/effects.ts';
import type { CallEnd, OpenCall, Recorder } from '../../core/recording/recorder.ts';
import {
  annotationsIn,
  cancelledId,
  endOf,
  isRequest,
  isResponse,
  type McpResponse,
  refusalOf,
  responseOf,
  startOf,
  unrecordedMethods,
} from './mcp-call.ts';
import { OpenRequests } from './open-requests.ts';

/** How to record a connection. */
export interface RecordTransportOptions {
  /** The agent that asks; that of the recorder's context if left out. */
  readonly agent?: string;
  /** The effect classes of tools by name; they go before the server's annotations. */
  readonly effects?: Readonly<Record<string, EffectClass>>;
}

const transportKeys: KnownKeys = optionKeys<RecordTransportOptions>(
  'record the transport',
  { agent: true, effects: true },
  'a recording',
);

/**
 * Returns a transport that records the requests of both directions: tools by name, other requests by method. In every
 * other respect it is the given transport. Notifications and progress pass unrecorded. A call that the recorder answers
 * or refuses does not reach the other side.
 *
 * @example
 * ```ts
 * await using recorder = await session.record();
 * await client.connect(recordTransport(transport, recorder, { effects: { refund: 'irreversible' } }));
 * await client.callTool({ name: 'refund', arguments: { order: 7 } });
 * await client.close();
 * ```
 */
export function recordTransport<T extends Transport>(
  transport: T,
  recorder: Recorder,
  options: RecordTransportOptions = {},
): T {
  checkDeclared(options, transportKeys);
  recorder.uses('@modelcontextprotocol/client');
  const recording = new TransportRecording(transport, recorder, options);
  const own = new Set<PropertyKey>(['send', 'onmessage', 'onclose']);
  // Clients tell the kind of a transport by its properties, so everything else is the transport's own.
  return new Proxy(transport, {
    get: (target, key) => {
      if (own.has(key)) return Reflect.get(recording, key);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' && !String(key).startsWith('on') ? (value.bind(target) as unknown) : value;
    },
    set: (target, key, value) =>
      own.has(key) ? Reflect.set(recording, key, value) : Reflect.set(target, key, value, target),
  });
}

/** Records the requests between a transport and its client. */
class TransportRecording {
  readonly #transport: Transport;
  readonly #recorder: Recorder;
  readonly #options: RecordTransportOptions;
  readonly #annotations = new Map<string, JsonObject>();
  /** The requests we sent, and those we received. */
  readonly #asked = new OpenRequests();
  readonly #askedOfUs = new OpenRequests();
  onmessage: Transport['onmessage'];
  onclose: Transport['onclose'];

  constructor(transport: Transport, recorder: Recorder, options: RecordTransportOptions) {
    this.#transport = transport;
    this.#recorder = recorder;
    this.#options = options;
    this.onmessage = transport.onmessage;
    this.onclose = transport.onclose;
    transport.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => this.#receive(message, extra);
    transport.onclose = () => this.#closed();
  }

  readonly send = async (message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> => {
    if (isRequest(message) && !unrecordedMethods.has(message.method)) return this.#ask(message, options);
    if (isResponse(message)) this.#askedOfUs.end(message.id, this.#endOf(message));
    const cancelled = cancelledId(message);
    if (cancelled !== undefined && !this.#asked.cancel(cancelled)) return;
    await this.#transport.send(message, options);
  };

  async #ask(request: JSONRPCRequest, options: TransportSendOptions | undefined): Promise<void> {
    const { id } = request;
    const recorder = recorderHere(this.#recorder);
    const call = await this.#start(this.#asked, request, recorder);
    if (!this.#asked.begin(id, call, recorder)) return;
    if (call.answer !== undefined) {
      const response = responseOf(id, call.answer);
      this.#asked.end(id, {});
      // The caller first learns that the request was sent, then gets the answer.
      queueMicrotask(() => this.#passOn(response));
      return;
    }
    try {
      await call.within(() => this.#transport.send(request, this.#watched(id, options)));
    } catch (error) {
      this.#asked.end(id, { error });
      throw error;
    }
  }

  /** A request may have its own stream, which ends apart from the connection. */
  #watched(id: unknown, options: TransportSendOptions | undefined): TransportSendOptions | undefined {
    if (options === undefined) return undefined;
    const { requestSignal, onRequestStreamEnd } = options;
    const giveUp = (): void => void this.#asked.end(id, { outcome: 'aborted', error: requestSignal?.reason });
    requestSignal?.addEventListener('abort', giveUp, { once: true });
    if (onRequestStreamEnd === undefined) return options;
    return {
      ...options,
      onRequestStreamEnd: () => {
        this.#asked.end(id, { outcome: 'interrupted', error: new Error('The stream ended without an answer') });
        onRequestStreamEnd();
      },
    };
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (isRequest(message) && !unrecordedMethods.has(message.method)) {
      void this.#beAsked(message, extra);
      return;
    }
    if (isResponse(message)) {
      const method = this.#asked.end(message.id, this.#endOf(message));
      if (method === 'tools/list') for (const [name, each] of annotationsIn(message)) this.#annotations.set(name, each);
    }
    const cancelled = cancelledId(message);
    if (cancelled !== undefined && !this.#askedOfUs.cancel(cancelled)) return;
    this.#passOn(message, extra);
  }

  /**
   * Records a request of the other side. The code that answers it runs inside the call, and the call inside the one it
   * is part of.
   */
  async #beAsked(request: JSONRPCRequest, extra: MessageExtraInfo | undefined): Promise<void> {
    const { id } = request;
    try {
      // The code that reads the connection is in no run, or in one that is over: the open calls say where it belongs.
      const recorder = this.#asked.recorder ?? this.#recorder;
      const open = (): Promise<OpenCall> => this.#start(this.#askedOfUs, request, recorder);
      const outer = this.#asked.only;
      const call = await (outer === undefined ? open() : outer.within(open));
      if (!this.#askedOfUs.begin(id, call, recorder)) return;
      if (call.answer === undefined) call.within(() => this.#passOn(request, extra));
      else await this.#transport.send(responseOf(id, call.answer));
    } catch (error) {
      this.#askedOfUs.end(id, { error });
      await this.#transport.send(refusalOf(id, error)).catch((cause: Error) => this.#transport.onerror?.(cause));
    }
  }

  async #start(requests: OpenRequests, request: JSONRPCRequest, recorder: Recorder): Promise<OpenCall> {
    const { agent, effects = {} } = this.#options;
    requests.add(request);
    try {
      return await recorder.startCall(startOf(request, { agent, effects, annotations: this.#annotations }));
    } catch (error) {
      requests.end(request.id, { error });
      throw error;
    }
  }

  /** Puts the ids of the protocol next to the answer, where the masker does not look for secrets. */
  #endOf(response: McpResponse): CallEnd {
    const { sessionId } = this.#transport;
    const { id = null } = response;
    return { ...endOf(response), provider: { requestId: id, ...given({ sessionId }) } };
  }

  #passOn(message: JSONRPCMessage, extra?: MessageExtraInfo): void {
    this.onmessage?.(message, extra);
  }

  #closed(): void {
    const end: CallEnd = { outcome: 'interrupted', error: new Error('The connection was closed') };
    this.#asked.endAll(end);
    this.#askedOfUs.endAll(end);
    this.onclose?.();
  }
}
