import type {
  JSONRPCErrorResponse,
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResultResponse,
} from '@modelcontextprotocol/client';
import { arrayAt, given, isObject, type JsonObject, type JsonValue, stringAt } from '../../core/json.ts';
import { propertiesOf } from '../../core/property.ts';
import type { EffectClass } from '../../core/recording/effects.ts';
import { plainObject } from '../../core/recording/plain-json.ts';
import type { CallEnd, CallStart, ReusedAnswer } from '../../core/recording/recorder.ts';

/** An answer to a request. */
export type McpResponse = JSONRPCResultResponse | JSONRPCErrorResponse;

/** Returns true if a message asks for an answer. */
export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message;
}

/** Returns true if a message is an answer. */
export function isResponse(message: JSONRPCMessage): message is McpResponse {
  return 'result' in message || 'error' in message;
}

/** Returns the id of the request that a message cancels; undefined for any other message. */
export function cancelledId(message: JSONRPCMessage): JsonValue | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const { params } = message;
  return isObject(params) ? params['requestId'] : undefined;
}

/** Requests that only keep the connection alive: recording them would bury the others. */
export const unrecordedMethods: ReadonlySet<string> = new Set(['ping']);

/** The annotations of a server's tools, and what the program declared. */
export interface KnownTools {
  readonly agent: string | undefined;
  readonly effects: Readonly<Record<string, EffectClass>>;
  /** By the name of the tool, as the server last listed them. */
  readonly annotations: ReadonlyMap<string, JsonObject>;
}

/** The effect classes of the protocol's own requests; to subscribe twice is to subscribe once. */
const methodEffects: Readonly<Record<string, EffectClass>> = {
  initialize: 'pure',
  'server/discover': 'pure',
  'tools/list': 'pure',
  'resources/list': 'pure',
  'resources/templates/list': 'pure',
  'resources/read': 'pure',
  'prompts/list': 'pure',
  'prompts/get': 'pure',
  'completion/complete': 'pure',
  'roots/list': 'pure',
  'sampling/createMessage': 'pure',
  'elicitation/create': 'pure',
  'resources/subscribe': 'idempotent',
  'resources/unsubscribe': 'idempotent',
  'logging/setLevel': 'idempotent',
};

/** Returns the start of a call for a request: a tool by its name and arguments, any other request by its method. */
export function startOf(request: JSONRPCRequest, known: KnownTools): CallStart {
  const params = isObject(request.params) ? request.params : {};
  const agent = given({ agent: known.agent });
  const tool = params['name'];
  if (request.method !== 'tools/call' || typeof tool !== 'string') {
    const { _meta: _, ...input } = params;
    return { kind: 'mcp', name: request.method, input, ...declared(request.method, methodEffects), ...agent };
  }
  const annotations = known.annotations.get(tool);
  return {
    kind: 'mcp',
    name: tool,
    input: params['arguments'] ?? {},
    ...declared(tool, known.effects),
    ...given({ annotations }),
    ...agent,
  };
}

function declared(name: string, effects: Readonly<Record<string, EffectClass>>): { readonly effect?: EffectClass } {
  const effect = Object.hasOwn(effects, name) ? effects[name] : undefined;
  return given({ effect });
}

/** Returns the end of a call for an answer. A failed tool says so in a well-formed result. */
export function endOf(response: McpResponse): CallEnd {
  if ('error' in response) {
    const { code, message } = response.error;
    return { error: Object.assign(new Error(message), { name: 'ProtocolError', code }) };
  }
  const output = plainObject(response.result);
  if (output['isError'] !== true) return { output };
  return { output, error: Object.assign(new Error(textOf(output)), { name: 'ToolError' }) };
}

function textOf(result: JsonObject): string {
  const texts = (arrayAt(result, 'content') ?? []).flatMap((piece) => stringAt(piece, 'text') ?? []);
  return texts.length === 0 ? 'The tool failed' : texts.join('\n');
}

const internalError = -32_603;

/** Returns a recorded answer as a response of the other side. */
export function responseOf(id: JSONRPCRequest['id'], answer: ReusedAnswer): McpResponse {
  if (isObject(answer.output)) return { jsonrpc: '2.0', id, result: answer.output };
  const { code, message } = answer.error ?? {};
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code: typeof code === 'number' ? code : internalError,
      message: typeof message === 'string' ? message : 'The recorded call gave no result',
    },
  };
}

/** Returns the response that tells the other side why it gets no answer. */
export function refusalOf(id: JSONRPCRequest['id'], error: unknown): McpResponse {
  const message = error instanceof Error ? error.message : String(error);
  return { jsonrpc: '2.0', id, error: { code: internalError, message } };
}

/** Returns the annotations of the tools in an answer to `tools/list`. */
export function annotationsIn(response: McpResponse): ReadonlyMap<string, JsonObject> {
  const tools: unknown = 'result' in response ? response.result['tools'] : undefined;
  const found = new Map<string, JsonObject>();
  for (const tool of Array.isArray(tools) ? tools : []) {
    const { name, annotations } = propertiesOf(tool);
    if (typeof name === 'string' && isObject(annotations)) found.set(name, annotations);
  }
  return found;
}
