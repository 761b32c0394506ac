import type { EventDraft } from '../../../core/event/event.ts';
import { given, isObject, type JsonInput, type JsonObject } from '../../../core/json.ts';
import { fromAnthropicMessages } from '../../../protocols/anthropic-messages.ts';
import { fromChatCompletions } from '../../../protocols/chat-completions.ts';
import { fromGeminiContent } from '../../../protocols/gemini-content.ts';
import type { FromProtocol } from '../../../protocols/protocol.ts';
import { fromResponses } from '../../../protocols/responses.ts';
import { parseSse } from '../../../protocols/sse.ts';
import { readJson } from './first-lines.ts';

/** A request and its answer, as a cassette or an archive has them. */
export interface HttpExchange {
  readonly method: string;
  readonly url: string;
  readonly requestBody: string;
  readonly status: number;
  readonly responseBody: string;
  readonly start?: string | undefined;
  readonly latencyMs?: number | undefined;
}

const protocols: readonly { readonly path: RegExp; readonly read: FromProtocol }[] = [
  { path: /\/chat\/completions$/, read: fromChatCompletions },
  { path: /\/responses$/, read: fromResponses },
  { path: /\/v1\/messages$/, read: fromAnthropicMessages },
  { path: /:(?:stream)?[gG]enerateContent$/, read: fromGeminiContent },
];

/** Returns the call of an exchange: of kind `model` if a provider's protocol is known by its address, else `http`. */
export function exchangeEvents(exchange: HttpExchange, call: string): EventDraft[] {
  const { start: time, latencyMs, status } = exchange;
  const path = exchange.url.replace(/[?#].*$/, '');
  const protocol = protocols.find((each) => each.path.test(path));
  const body = readJson(exchange.requestBody);
  const isModel = exchange.method.toUpperCase() === 'POST' && protocol !== undefined && isObject(body);
  const { started, ended } = isModel ? modelCall(exchange, protocol.read, body, path) : httpCall(exchange, path);
  // A browser writes 0 for a request that got no answer.
  const outcome = status >= 400 || status === 0 ? 'error' : 'ok';
  return [
    { type: 'call.started', ...given({ time }), data: { call, ...started } },
    {
      type: 'call.ended',
      ...given({ time }),
      data: { call, kind: started['kind'], name: started['name'], outcome, ...ended, ...given({ latencyMs }) },
    },
  ];
}

interface Edges {
  readonly started: JsonInput;
  readonly ended: JsonInput;
}

function modelCall({ responseBody }: HttpExchange, read: FromProtocol, body: JsonObject, path: string): Edges {
  const { model, stream: _, ...request } = read.request(body, path);
  const context = { request };
  const isStreamed = /^\s*(?:data|event|id|:)/.test(responseBody);
  const whole = readJson(responseBody);
  const answer = isStreamed
    ? read.stream(parseSse(responseBody), context)
    : isObject(whole)
      ? read.answer(whole, context)
      : undefined;
  const { message, finishReason, usage, error } = answer ?? {};
  const fault = error === undefined ? undefined : { name: error.type ?? 'Error', message: error.message };
  return {
    started: {
      kind: 'model',
      name: model === '' ? 'unknown' : model,
      effect: 'pure',
      request: request as unknown as JsonObject,
    },
    ended: given({
      message: message as unknown as JsonObject | undefined,
      finishReason,
      usage: usage as unknown as JsonObject | undefined,
      error: fault,
    }),
  };
}

function httpCall({ method, url, requestBody, responseBody, status }: HttpExchange, path: string): Edges {
  const body = requestBody === '' ? undefined : (readJson(requestBody) ?? requestBody);
  const isPure = /^(?:GET|HEAD)$/i.test(method);
  const name = `${method.toUpperCase()} ${path.replace(/^[a-z]+:\/\//, '')}`;
  return {
    started: { kind: 'http', name, effect: isPure ? 'pure' : 'unknown', input: { method, url, ...given({ body }) } },
    ended: { output: { status, body: readJson(responseBody) ?? responseBody } },
  };
}
