import { given, isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { type Message, type MessagePart, textOf, toolResultsIn } from '../../core/message/message.ts';
import type { ModelAnswer } from './model-answer.ts';
import type { ModelProtocol, OfferedTool, ScriptedRequest } from './script.ts';
import type { SsePiece } from './sse.ts';

/** One protocol: reads requests and writes answers. */
export interface Protocol {
  readonly name: ModelProtocol;
  /** The end of the path. */
  readonly path: string;
  read(body: JsonObject): ScriptedRequest;
  /** Returns the answer as one body. */
  whole(answer: ModelAnswer, request: ScriptedRequest): JsonObject;
  /** Returns the answer piece by piece. */
  pieces(answer: ModelAnswer, request: ScriptedRequest): Iterable<SsePiece>;
  /** Returns the body of an error. */
  failure(status: number, message: string, type: string | undefined): JsonObject;
}

/** The fields of a request that a protocol reads. */
export interface ReadRequest {
  readonly protocol: ModelProtocol;
  readonly body: JsonObject;
  readonly system: readonly string[];
  readonly messages: readonly Message[];
  readonly tools: readonly OfferedTool[];
  /** The keys of the body that are not settings. */
  readonly known: readonly string[];
}

/** Returns a request as scripts see it. */
export function scriptedRequest({ protocol, body, system, messages, tools, known }: ReadRequest): ScriptedRequest {
  const users = messages.filter(({ role }) => role === 'user');
  const spoke = messages.findLastIndex(({ role }) => role === 'assistant');
  const not = new Set(['model', 'stream', 'tools', ...known]);
  return {
    protocol,
    model: textIn(body, 'model'),
    system: system.join('\n'),
    messages,
    tools: tools as ScriptedRequest['tools'],
    settings: Object.fromEntries(Object.entries(body).filter(([key]) => !not.has(key))),
    stream: body['stream'] === true,
    prompt: textOf(users.at(-1) ?? { role: 'user', content: '' }),
    turn: users.length,
    results: messages.slice(spoke + 1).flatMap((message) => toolResultsIn(message)),
    body,
  };
}

/** Returns a string of an object; empty if there is none. */
export function textIn(value: JsonValue | undefined, key: string): string {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === 'string' ? found : '';
}

/** Returns the objects of a list; none for other values. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns a message of parts; a single text becomes its plain content. */
export function messageOf(role: Message['role'], parts: readonly MessagePart[]): Message {
  const [only, second] = parts;
  return { role, content: only?.type === 'text' && second === undefined ? only.text : parts };
}

/** Returns a tool of a request in the form that all protocols share. */
export function offeredTool(tool: JsonObject, schema: 'parameters' | 'input_schema'): OfferedTool {
  return {
    name: textIn(tool, 'name') || textIn(tool, 'type'),
    ...(typeof tool['description'] === 'string' ? { description: tool['description'] } : {}),
    ...given({ inputSchema: tool[schema] }),
  };
}

/** Returns the kind of error of a status, in the words that both providers share. */
export function errorType(status: number): string {
  const types: Readonly<Record<number, string>> = {
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    413: 'request_too_large',
    429: 'rate_limit_error',
    529: 'overloaded_error',
  };
  return types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** The creation time of every answer, in seconds. */
export const createdAt = 1_767_225_600;
