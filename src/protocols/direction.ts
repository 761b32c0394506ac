import type { JsonObject, JsonValue } from '../core/json.ts';
import { bareMessages, type Message, type MessageLike } from '../core/message/message.ts';
import type {
  AnswerContext,
  FromProtocol,
  ProtocolAnswer,
  ProtocolRequest,
  StreamEvent,
  StreamFold,
  StreamOptions,
  ToProtocol,
} from './protocol.ts';

/** How a protocol is read, on JSON. */
interface Reader {
  request(body: JsonObject, path: string): ProtocolRequest;
  messages(list: readonly JsonObject[]): readonly Message[];
  answer(body: JsonObject, context: AnswerContext): ProtocolAnswer;
  fold(): StreamFold;
  speaks(event: StreamEvent): boolean;
}

/** Returns the converters that read a protocol. A caller may pass the types of a client: their values are JSON. */
export function reading(reader: Reader): FromProtocol {
  const answer: FromProtocol['answer'] = (body, context = {}) => reader.answer(body as JsonObject, context);
  return {
    request: (body, path = '') => reader.request(body as JsonObject, path),
    messages: (list) => reader.messages(list as readonly JsonObject[]),
    answer,
    stream: (events, context) => {
      const fold = reader.fold();
      for (const event of events) fold.add(event);
      return answer(fold.body(), context);
    },
    fold: () => reader.fold(),
    speaks: (event) => reader.speaks(event),
  };
}

/** How a protocol is written, as JSON. */
interface Writer {
  path(request: Pick<ProtocolRequest, 'model' | 'stream'>): string;
  request(request: ProtocolRequest): JsonObject;
  messages(messages: readonly Message[]): readonly JsonObject[];
  tools(tools: readonly JsonValue[]): readonly JsonObject[];
  answer(answer: ProtocolAnswer): JsonObject;
  events(body: JsonObject, options: StreamOptions): Iterable<StreamEvent>;
}

/** Returns the converters that write a protocol. The caller names the types of the client: nothing checks them. */
export function writing(writer: Writer): ToProtocol {
  const typed = <T>(value: object): T => value as T;
  return {
    path: (request) => writer.path(request),
    request: <Body extends object>(request: ProtocolRequest) => typed<Body>(writer.request(request)),
    messages: <Item extends object>(messages: readonly MessageLike[]) =>
      typed<Item[]>([...writer.messages(bareMessages(messages))]),
    tools: <Tool extends object>(tools: readonly JsonValue[]) => typed<Tool[]>([...writer.tools(tools)]),
    answer: (answer) => writer.answer(answer),
    stream: (answer, options = {}) => writer.events(writer.answer(answer), options),
  };
}
