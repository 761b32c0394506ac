import type { GoogleGenAI } from '@google/genai';
import { given, isObject } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Recorder } from '../../core/recording/recorder.ts';
import { fromGeminiContent } from '../../protocols/gemini-content.ts';
import { type ClientLane, Exchange } from '../clients/exchange.ts';
import { unsupported } from '../clients/recorded-client.ts';
import { recordedResponse } from '../clients/recorded-response.ts';

/** How a client is recorded. */
export interface RecordGeminiOptions {
  /** The name of the agent in the log. */
  readonly agent?: string;
}

const recordKeys: KnownKeys = optionKeys<RecordGeminiOptions>('record the client', { agent: true }, 'a recording');

/** The package of the client. */
export const packageName = '@google/genai';

/** The one place that every request of the client goes through, above the attempts. */
type ApiCall = (
  url: string,
  init: { readonly body?: unknown; readonly method?: string },
  retryOptions: unknown,
  timeout: unknown,
  signal: AbortSignal | undefined,
  ...rest: readonly unknown[]
) => Promise<Response>;

/** A client as it is inside. */
interface ClientParts {
  apiClient: { readonly apiCall: ApiCall };
  models: { readonly constructor: new (apiClient: object) => object };
  chats: { readonly constructor: new (models: object, apiClient: object) => object };
}

/** The clients behind those that record, and where. */
const originals = new WeakMap<object, { readonly client: GoogleGenAI; readonly lane: ClientLane }>();

/**
 * Returns the same client, recorded: every `generateContent`, streamed or not, even those that a chat or automatic
 * function calling asks for, with what was really sent, what was really said, tokens, attempts and errors. The given
 * client is left as it is.
 *
 * @example
 * ```ts
 * await using recorder = await session.record({ agent: 'support' });
 * const recorded = recordGemini(client, recorder);
 * await recorded.models.generateContent({ model: 'gemini-flash-latest', contents: 'Hello?' });
 * ```
 */
export function recordGemini<Client extends GoogleGenAI>(
  client: Client,
  recorder: Recorder,
  options: RecordGeminiOptions = {},
): Client {
  checkKeys(options, recordKeys);
  const lane: ClientLane = { recorder, ...given({ agent: options.agent }) };
  const known = originals.get(client);
  if (known !== undefined && known.lane.recorder === recorder && known.lane.agent === lane.agent) return client;
  const source = (known?.client ?? client) as Client;
  const parts = partsOf(source);
  recorder.uses(packageName);
  const api = Object.create(parts.apiClient, {
    apiCall: { value: recordedCalls(parts.apiClient.apiCall, lane), configurable: true, writable: true },
  }) as ClientParts['apiClient'];
  const models = new parts.models.constructor(api);
  const own = { apiClient: api, models, chats: new parts.chats.constructor(models, api) };
  const copy = Object.assign(Object.create(Object.getPrototypeOf(source) as object) as Client, source, own);
  originals.set(copy, { client: source, lane });
  return copy;
}

/** A client that a future version has changed inside must not be recorded as having done nothing. */
function partsOf(client: object): ClientParts {
  const parts = client as Partial<ClientParts>;
  const isKnown = typeof parts.apiClient?.apiCall === 'function' && isObject(parts.models) && isObject(parts.chats);
  if (isKnown) return parts as ClientParts;
  throw unsupported('a GoogleGenAI client', packageName);
}

function recordedCalls(call: ApiCall, lane: ClientLane): ApiCall {
  return async function (this: unknown, url, init, retryOptions, timeout, signal, ...rest) {
    const make = (): Promise<Response> => call.call(this, url, init, retryOptions, timeout, signal, ...rest);
    const body = /:(stream)?generateContent\b/i.test(url) ? bodyOf(init.body) : undefined;
    if (body === undefined) return make();
    const protocol = { name: 'gemini-content', from: fromGeminiContent } as const;
    const exchange = await Exchange.start(lane, { protocol, body, path: new URL(url).pathname, signal });
    try {
      return recordedResponse(exchange, await exchange.within(make), { leavesByRelease: true });
    } catch (error) {
      exchange.fail(error);
      throw error;
    }
  };
}

function bodyOf(body: unknown): object | undefined {
  if (typeof body !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
