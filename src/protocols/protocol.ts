import type { JsonObject, JsonValue } from '../core/json.ts';
import type { Message, MessageLike } from '../core/message/message.ts';
import type { ModelRequest, Usage } from '../core/recording/recorder.ts';

/** A protocol in which a provider speaks with its clients. */
export type ProtocolName = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini-content';

/** A request in the neutral form. */
export interface ProtocolRequest extends ModelRequest {
  /** The model that the request names; empty if it names none. */
  readonly model: string;
  /** Whether the answer is asked for piece by piece; left out where the request does not say. */
  readonly stream?: boolean;
}

/** A tool that a request offers, in the neutral form. A tool that the provider runs itself has the type `provider`. */
export interface ProtocolTool {
  readonly type: 'function' | 'provider';
  readonly name: string;
  readonly description?: string;
  /** The JSON Schema of the arguments. */
  readonly inputSchema?: JsonValue;
}

/** An error that a provider gave in place of an answer. */
export interface ProtocolError {
  readonly message: string;
  /** The kind of error, in the provider's words. */
  readonly type?: string;
  readonly code?: string | number;
}

/** An answer in the neutral form. */
export interface ProtocolAnswer {
  /** The first answer, where a provider gave several; the others are in `provider`. */
  readonly message?: Message;
  /** `stop`, `length`, `tool-calls`, `content-filter`, or the provider's own word for anything else. */
  readonly finishReason?: string;
  readonly usage?: Usage;
  readonly error?: ProtocolError;
  /** The rest of the body as it was: ids, raw usage, further choices. */
  readonly provider: JsonObject;
}

/** One event of a streamed answer. */
export interface StreamEvent {
  /** Its name, where the protocol has names. */
  readonly event?: string;
  /** Its data; text that is not a JSON object stays text. */
  readonly data: JsonObject | string;
}

/** Puts a streamed answer together as its events arrive. */
export interface StreamFold {
  /** Adds the next event. */
  add(event: StreamEvent): void;
  /** Whether the protocol's last event has arrived. */
  readonly isFinished: boolean;
  /** Whether anything that the model says has arrived. */
  readonly hasToken: boolean;
  /** Returns what has arrived so far, as the body of an answer that was not streamed. */
  body(): JsonObject;
}

/** The request that an answer belongs to, where a protocol needs it to name the tool calls of the answer. */
export interface AnswerContext {
  readonly request?: ModelRequest;
}

/** Reads a protocol: gives the neutral form of what a client sends and of what a provider answers. */
export interface FromProtocol {
  /** Reads the body of a request. Of Gemini, the path names the model. */
  request(body: object, path?: string): ProtocolRequest;
  /** Reads a list of messages. */
  messages(list: readonly object[]): readonly Message[];
  /** Reads the body of an answer, an error included. */
  answer(body: object, context?: AnswerContext): ProtocolAnswer;
  /** Reads the events of a streamed answer; what was cut off is what had arrived. */
  stream(events: Iterable<StreamEvent>, context?: AnswerContext): ProtocolAnswer;
  /** Begins to put a streamed answer together. */
  fold(): StreamFold;
  /** Returns true if an event carries a piece of what the model says. */
  speaks(event: StreamEvent): boolean;
}

/** The kind of text that a piece of a stream belongs to. */
export type PieceKind = 'text' | 'reasoning' | 'arguments';

/** How an answer is streamed. */
export interface StreamOptions {
  /** Cuts a string into the pieces it is streamed in; one piece if left out. */
  readonly cut?: (text: string, kind: PieceKind) => readonly string[];
}

/** Writes a protocol: gives what a client sends and what a provider answers for what is in the neutral form. */
export interface ToProtocol {
  /** Returns how the path of a request ends. */
  path(request: Pick<ProtocolRequest, 'model' | 'stream'>): string;
  /** Writes the body of a request. */
  request<Body extends object = JsonObject>(request: ProtocolRequest): Body;
  /** Writes messages, or those of a conversation; erased ones are left out. The caller says which type the client has for them. */
  messages<Item extends object = JsonObject>(messages: readonly MessageLike[]): Item[];
  /** Writes the tools that a request offers. */
  tools<Tool extends object = JsonObject>(tools: readonly JsonValue[]): Tool[];
  /** Writes the body of an answer, or of an error. */
  answer(answer: ProtocolAnswer): JsonObject;
  /** Writes an answer as the events of a stream. */
  stream(answer: ProtocolAnswer, options?: StreamOptions): Iterable<StreamEvent>;
}
