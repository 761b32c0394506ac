import { given, isObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { type Message, type MessagePart, textOf, toolResultsIn } from '../../core/message/message.ts';
import type { ModelAnswer } from './model-answer.ts';
import type { ModelProtocol, OfferedTool, ScriptedRequest } from './script.ts';
import type { SsePiece } from './sse.ts';

/** One protocol: how a request is read, and how an answer is written. */
export interface Protocol {
  readonly name: ModelProtocol;
  /** How the path ends. */
  readonly path: string;
  read(body: JsonObject): ScriptedRequest;
  /** The answer as one body. */
  whole(answer: ModelAnswer, request: ScriptedRequest): JsonObject;
  /** The answer piece by piece. */
  pieces(answer: ModelAnswer, request: ScriptedRequest): Iterable<SsePiece>;
  /** The body of an error. */
  failure(status: number, message: string, type: string | undefined): JsonObject;
}

/** What a protocol read of a request, before what follows from it is added. */
export interface ReadRequest {
  readonly protocol: ModelProtocol;
  readonly body: JsonObject;
  readonly system: readonly string[];
  readonly messages: readonly Message[];
  readonly tools: readonly OfferedTool[];
  /** The keys of the body that are no settings. */
  readonly known: readonly string[];
}

/** A request as scripts see it. */
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

/** A string of an object; empty if there is none. */
export function textIn(value: JsonValue | undefined, key: string): string {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === 'string' ? found : '';
}

/** The objects of a list; none if it is no list. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A message of parts; one that is only text has it as its content. */
export function messageOf(role: Message['role'], parts: readonly MessagePart[]): Message {
  const [only, second] = parts;
  return { role, content: only?.type === 'text' && second === undefined ? only.text : parts };
}

/** The tools of a request in one form. */
export function offeredTool(tool: JsonObject, schema: 'parameters' | 'input_schema'): OfferedTool {
  return {
    name: textIn(tool, 'name') || textIn(tool, 'type'),
    ...(typeof tool['description'] === 'string' ? { description: tool['description'] } : {}),
    ...given({ inputSchema: tool[schema] }),
  };
}

/** The kind of error that goes with a status, in the words that both providers share. */
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

/** The second that answers say they were made in: always the same. */
export const createdAt = 1_767_225_600;
