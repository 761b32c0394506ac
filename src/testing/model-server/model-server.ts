import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { given, isObject, type JsonObject } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { toolCallsIn } from '../../core/message/message.ts';
import { spokenAnswer } from './model-answer.ts';
import { type Protocol, scriptedRequest } from './protocol.ts';
import { type FailedReply, type ModelScript, readScript, type ScriptedReply, type ScriptedRequest } from './script.ts';
import { openaiChat, spokenProtocols } from './spoken-protocols.ts';
import { type Sent, type SsePiece, sendStream, sendWhole, wait } from './sse.ts';

/** A request that the server received, and its outcome. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The request as the script saw it; undefined if the server could not read it. */
  readonly request: ScriptedRequest | undefined;
  /** The index of the rule that answered; undefined if none did. */
  readonly rule: number | undefined;
  /** The outcome; `open` until it is over, `refused` if no rule answered. */
  readonly outcome: Sent | 'open' | 'error' | 'refused';
}

/** A model server whose answers come from a script. */
export interface ModelServer {
  /** The base URL for clients. */
  readonly url: string;
  /** The received requests, oldest first; only the newest `limits.scriptedRequestsMax`. */
  readonly requests: readonly ReceivedRequest[];
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens a server on this machine that speaks OpenAI chat completions, OpenAI responses, Anthropic messages and Gemini
 * contents, streamed and not, and answers by a script: no network, no key, the same answers every time. A request that no rule fits is
 * answered with status 400 and a message that says so, which no client repeats.
 *
 * @example
 * ```ts
 * await using server = await openModelServer([
 *   { when: { answered: 'weather' }, reply: { text: 'It is 7 degrees.' } },
 *   { when: { text: /weather/ }, reply: { toolCalls: [{ name: 'weather', input: { city: 'Oslo' } }] } },
 *   { reply: [{ error: { status: 429, retryAfter: 1 } }, { text: 'Hello!' }] }, // a list: one after the other
 * ]);
 * const answer = await fetch(`${server.url}/chat/completions`, {
 *   method: 'POST',
 *   body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'How is the weather?' }] }),
 * });
 * console.log(await answer.json(), server.requests[0]?.rule); // …, 1
 * ```
 */
export async function openModelServer(script: ModelScript): Promise<ModelServer> {
  const desk = new Desk(script);
  const server = createServer((request, response) => void desk.answer(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = isPlace(address) ? address.port : 0;
  const close = (): Promise<void> => closed(server);
  return { url: `http://127.0.0.1:${port}/v1`, requests: desk.requests, close, [Symbol.asyncDispose]: close };
}

const isPlace = (address: ReturnType<Server['address']>): address is Exclude<typeof address, string | null> =>
  typeof address === 'object' && address !== null;

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** A request that is being answered. */
type Receipt = { -readonly [Key in keyof ReceivedRequest]: ReceivedRequest[Key] };

class Desk {
  readonly requests: Receipt[] = [];
  readonly #choose: ReturnType<typeof readScript>;
  readonly #rules: number;
  readonly #protocols: readonly Protocol[] = spokenProtocols();
  #answers = 0;
  #calls = 0;

  constructor(script: ModelScript) {
    this.#choose = readScript(script);
    this.#rules = typeof script === 'function' ? 1 : script.length;
  }

  async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(incoming.url ?? '/', 'http://localhost').pathname;
    const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const);
    const receipt: Receipt = {
      path,
      headers: Object.fromEntries(headers),
      request: undefined,
      rule: undefined,
      outcome: 'open',
    };
    this.requests.push(receipt);
    if (this.requests.length > limits.scriptedRequestsMax) this.requests.shift();
    response.setHeader('x-request-id', `req_${++this.#answers}`);
    response.once('error', () => undefined);
    const protocol = this.#protocols.find((each) => each.matches(path));
    try {
      receipt.outcome = await this.#reply({ incoming, response, receipt, protocol, number: this.#answers });
    } catch (error) {
      receipt.outcome = response.destroyed ? 'aborted' : 'refused';
      const message = error instanceof Error ? error.message : String(error);
      refuse(response, protocol, message);
    }
  }

  async #reply(at: {
    readonly incoming: IncomingMessage;
    readonly response: ServerResponse;
    readonly receipt: Receipt;
    readonly protocol: Protocol | undefined;
    readonly number: number;
  }): Promise<ReceivedRequest['outcome']> {
    const { response, receipt, protocol, number } = at;
    if (protocol === undefined || at.incoming.method !== 'POST') throw new Error(this.#unknown(at.incoming));
    const body = await bodyOf(at.incoming);
    const request = scriptedRequest(protocol.name, body, protocol.read(body, receipt.path));
    receipt.request = request;
    const chosen = this.#choose(request);
    if (chosen === undefined) throw new Error(unmatched(request, this.#rules));
    receipt.rule = chosen.rule;
    await wait(response, chosen.reply.firstMs);
    if (response.destroyed) return 'aborted';
    if ('error' in chosen.reply) return fail(response, protocol, chosen.reply);
    return await this.#send(chosen.reply, { response, protocol, request, number });
  }

  #send(
    reply: Exclude<ScriptedReply, FailedReply>,
    at: {
      readonly response: ServerResponse;
      readonly protocol: Protocol;
      readonly request: ScriptedRequest;
      readonly number: number;
    },
  ): Promise<Sent> {
    const { response, protocol, request, number } = at;
    if ('malformed' in reply) {
      const piece: SsePiece = { data: reply.malformed, spoken: true };
      return request.stream ? sendStream(response, [piece], reply) : sendWhole(response, reply.malformed, reply);
    }
    const spoken = spokenAnswer(reply, request, { number, callId: this.#callIds(request) });
    const answer = protocol.answer(spoken, request);
    if (!request.stream) return sendWhole(response, JSON.stringify(protocol.to.answer(answer)), reply);
    const events = [...protocol.to.stream(answer, { cut: spoken.cut })];
    const pieces = events.map((event) => ({ ...event, spoken: protocol.from.speaks(event) }));
    return sendStream(response, pieces, reply);
  }

  /** Returns the next id, and skips those that the conversation already has from a different server. */
  #callIds({ messages }: ScriptedRequest): () => string {
    const used = new Set(messages.flatMap((message) => toolCallsIn(message).map(({ toolCallId }) => toolCallId)));
    return () => {
      do this.#calls++;
      while (used.has(`call_${this.#calls}`));
      return `call_${this.#calls}`;
    };
  }

  #unknown({ method, url }: IncomingMessage): string {
    const paths = this.#protocols.map(({ place }) => `…${place}`).join(', ');
    return `Cannot answer ${method} ${url}: the scripted model server answers POST to ${paths}`;
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limits.payloadBytesMax)
      throw new Error(`Cannot read the request: it has more than ${limits.payloadBytesMax} bytes ("payloadBytesMax")`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(`Cannot read the request: "${text.slice(0, 80)}" is not JSON`);
  }
  if (!isObject(body)) throw new Error(`Cannot read the request: "${text.slice(0, 80)}" is not an object`);
  return body;
}

function unmatched(request: ScriptedRequest, rules: number): string {
  const results = request.results.map(({ toolName }) => toolName).join(', ');
  const last = results === '' ? `the prompt "${request.prompt.slice(0, 200)}"` : `results of ${results}`;
  const what = `model "${request.model}", turn ${request.turn}, ${last}`;
  return `Cannot answer: the script has no rule for this request (${what}; rules tried: ${rules})`;
}

/** Refuses a request with a status after which no client retries. */
function refuse(response: ServerResponse, protocol: Protocol | undefined, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = protocol === undefined ? 404 : 400;
  response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
  response.end(JSON.stringify(failureBody(protocol ?? openaiChat, { status, message })));
}

function fail(response: ServerResponse, protocol: Protocol, { error }: FailedReply): 'error' {
  const { status, message = protocol.errorType(error.status), type, retryAfter, body } = error;
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
  });
  response.end(JSON.stringify(body ?? failureBody(protocol, { status, message, ...given({ type }) })));
  return 'error';
}

/** An error in the protocol's own form. */
function failureBody(
  protocol: Protocol,
  { status, message, type }: { readonly status: number; readonly message: string; readonly type?: string },
): JsonObject {
  const code = protocol.name === 'gemini-content' ? { code: status } : {};
  return protocol.to.answer({ error: { message, type: type ?? protocol.errorType(status), ...code }, provider: {} });
}
