import {
  Code,
  ConnectError,
  type ConnectRouter,
  type ContextValues,
  createConnectRouter,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect';
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from '@connectrpc/connect-node';
import { RepriseError } from '../../core/error.ts';
import { numberAt } from '../../core/json.ts';
import { statusOf } from '../../wire/status.ts';
import type { Grant } from '../guarding/grant.ts';
import type { BodyBudget } from '../http/body-budget.ts';
import { connectError, hasLeft } from '../http/call-failure.ts';
import { cutOff } from '../http/cut-off.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../http/listener.ts';
import type { WriteLog } from '../http/log-line.ts';
import type { Metrics } from '../http/metrics.ts';
import { RequestBody } from '../http/request-body.ts';
import { type BodyForm, requestProblem } from '../http/request-problem.ts';
import { countedGzip, countingUnpacked } from '../http/unpacking.ts';
import { callEnded, observed, observedCall, withRequest } from './call-log.ts';
import { answerOf, type DirectCall, isDirect, messageIn, noting, sendAnswer, wholeBody } from './direct-call.ts';

/** A request that is not a call of a service. */
interface PageAnswer {
  /** Its name in the log and the figures. */
  readonly call: string;
  readonly answered: Promise<void>;
}

/** Answers a request that is not a call; undefined if the path is not its own. */
export type Page = (request: HttpRequest, response: HttpResponse, grant: Grant) => PageAnswer | undefined;

/** The parts of the server that a request goes through. */
export interface RequestParts {
  /** Refuses a request for its headers alone. */
  readonly admit: (request: HttpRequest) => void;
  /** Finds out who calls, before the body is read. */
  readonly authenticate: (request: HttpRequest) => Promise<Grant>;
  /** Counts a call of a token, and refuses it if there were too many. */
  readonly checkRate: (grant: Grant) => void;
  readonly routes: (router: ConnectRouter) => void;
  /** Pages for everyone, such as `/healthz`; true if it answered. */
  readonly openPage: (request: HttpRequest, response: HttpResponse) => boolean;
  /** Pages for those who have a token, such as `/metrics`. */
  readonly page: Page;
  readonly newId: () => string;
  readonly log: WriteLog;
  readonly metrics: Metrics;
  readonly budget: BodyBudget;
  /** The largest message that is read. */
  readonly bodyBytesMax: number;
  /** How long the first message of a call may take to come. */
  readonly bodyMsMax: number;
}

/** The framework takes a decoder, which its types leave out. The one that it uses replaces bytes that are not UTF-8. */
const strictText: object = { textDecoder: new TextDecoder('utf-8', { fatal: true }) };

/** Returns the function that answers every request of the port. */
export function requestHandler(parts: RequestParts): HttpHandler {
  const router = createConnectRouter({
    interceptors: [observed(parts.log, parts.metrics)],
    readMaxBytes: parts.bodyBytesMax,
    acceptCompression: [countedGzip],
    // Compressing each message of a stream costs far more than the network does.
    compressMinBytes: 1_048_576,
    // To ignore what was asked for would be a wrong answer.
    jsonOptions: { ignoreUnknownFields: false, ...strictText },
  });
  const direct = new Map<string, DirectCall>();
  parts.routes(noting(router, direct));
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    response.on('error', () => undefined);
    const id = requestId(request) ?? parts.newId();
    response.setHeader('x-request-id', id);
    answer(request, response, id).catch((error) => {
      // The client left while its body was read; no one is left to tell.
      if (!response.destroyed || error instanceof RepriseError) refused(parts, request, response, id, error);
    });
  };

  async function answer(request: HttpRequest, response: HttpResponse, id: string): Promise<void> {
    parts.admit(request);
    if (parts.openPage(request, response)) return;
    const grant = await parts.authenticate(request);
    parts.checkRate(grant);
    const handler = handlers.get(pathOf(request));
    const late = setTimeout(() => cutOff(response), parts.bodyMsMax);
    parts.metrics.add('reprise_streams', 1);
    response.once('close', () => {
      clearTimeout(late);
      parts.metrics.add('reprise_streams', -1);
    });
    if (handler === undefined) {
      // Nothing reads the body of a GET, so its end does not come.
      if (request.method === 'GET') clearTimeout(late);
      else request.once('end', () => clearTimeout(late));
      return await showPage(parts, [request, response], id, grant);
    }
    const call = direct.get(pathOf(request));
    if (call !== undefined && isDirect(request, response))
      return await answerCall(parts, call, [request, response], { id, grant, onRead: () => clearTimeout(late) });
    const body = new RequestBody(() => clearTimeout(late));
    const form = formOf(request, parts.bodyBytesMax);
    const problem = (): RepriseError => requestProblem(handler.method.input, body.bytes, form);
    // It is thrown in the middle of a call, where only an error with a status gets through.
    const bytes = parts.budget.open(connectError);
    const values = withRequest(createContextValues(), { id, grant, body, bytes, problem });
    const called = universalRequestFromNodeRequest(request, response, undefined, values);
    const counted = bytes.counted(called.body as AsyncIterable<Uint8Array>);
    response.once('close', bytes.release);
    try {
      const answered = await countingUnpacked(bytes, () => handler({ ...called, body: body.kept(counted) }));
      // The framework answers a request that it cannot read without a code of ours.
      if (handler.method.methodKind === 'unary' && !body.isRead && !bytes.isRefused) throw problem();
      await universalResponseToNodeResponse(plainly(answered), response);
    } catch (error) {
      // The client left in the middle; no one is left to tell.
      if (ConnectError.from(error).code !== Code.Aborted && !hasLeft(error) && !response.destroyed) throw error;
    }
  }
}

/** Answers a request that is not a call. */
async function showPage(
  parts: RequestParts,
  [request, response]: readonly [HttpRequest, HttpResponse],
  id: string,
  grant: Grant,
): Promise<void> {
  const started = performance.now();
  const { call, answered } = parts.page(request, response, grant) ?? nothingThere(request);
  const end = (code: string): void => callEnded(parts.log, parts.metrics, { call, code, id, grant, started });
  try {
    await answered;
    end('ok');
  } catch (error) {
    end(error instanceof RepriseError ? error.code : 'failed');
    if (!(error instanceof RepriseError)) throw error;
    refuse(request, response, error);
  }
}

/** Answers a call with one message each way. */
async function answerCall(
  parts: RequestParts,
  call: DirectCall,
  [request, response]: readonly [HttpRequest, HttpResponse],
  { id, grant, onRead }: { readonly id: string; readonly grant: Grant; readonly onRead: () => void },
): Promise<void> {
  const bytes = parts.budget.open((error) => error);
  response.once('close', bytes.release);
  const body = await wholeBody(request, parts.bodyBytesMax, bytes.take);
  onRead();
  const problem = (): RepriseError => requestProblem(call.method.input, body, formOf(request, parts.bodyBytesMax));
  const message = messageIn(call, body);
  if (message === undefined) throw problem();
  const admitted = { id, grant, body: new RequestBody(() => undefined), bytes, problem };
  const values = withRequest(createContextValues(), admitted);
  const context = callContext(request, values);
  const named = { call: call.method.name, message, request: admitted };
  try {
    const answer = await observedCall(parts, named, () => answerOf(call, message, context));
    if (!response.destroyed) sendAnswer(response, request.headers['content-type'] ?? '', answer);
  } catch (error) {
    if (!response.destroyed) refuseBy(request, response, ConnectError.from(error));
  }
}

function formOf({ headers }: HttpRequest, bytesMax: number): BodyForm {
  const encoding = headers['grpc-encoding'] ?? headers['connect-content-encoding'] ?? headers['content-encoding'];
  return {
    contentType: headers['content-type'] ?? '',
    encoding: typeof encoding === 'string' ? encoding : undefined,
    length: Number(headers['content-length'] ?? 0),
    bytesMax,
  };
}

/** Answers a request that no call got to see. */
function refused(
  { log, metrics }: RequestParts,
  request: HttpRequest,
  response: HttpResponse,
  id: string,
  error: unknown,
): void {
  const known = error instanceof RepriseError ? error : new RepriseError('store.failed', 'Cannot answer');
  if (known !== error) log({ level: 'error', message: 'A request failed', request: id, error: String(error) });
  else log({ level: 'info', message: 'A request was refused', request: id, code: known.code });
  if (known.code === 'token.invalid' || known.code === 'store.denied')
    metrics.add('reprise_denials_total', 1, { code: known.code });
  refuse(request, response, known);
}

/** Returns the id that a caller gave its request, if it can be printed. */
function requestId(request: HttpRequest): string | undefined {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : undefined;
}

/** Returns the path of a request without its parameters. */
export function pathOf(request: HttpRequest): string {
  return request.url?.split('?', 1)[0] ?? '';
}

function nothingThere(request: HttpRequest): never {
  throw new RepriseError('store.unsupported', `Cannot find ${JSON.stringify(pathOf(request).slice(0, 200))} here`, {
    hint:
      request.method === 'GET' && /^\/v1\/\w+\.\w+$/.test(pathOf(request))
        ? "Post the arguments of a verb: curl -d '{}'."
        : 'See docs/reference/wire.md for the calls of a server.',
  });
}

/** Never aborts: the client of a call with one message each way gets its answer, or has left. */
const endless: AbortSignal = new AbortController().signal;

/** Returns the context of a call with one message each way; such calls use no more of it than this. */
function callContext({ headers }: HttpRequest, values: ContextValues): HandlerContext {
  const context = {
    values,
    signal: endless,
    get requestHeader(): Headers {
      const texts = Object.entries(headers).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
      return new Headers(texts.filter(([name]) => !name.startsWith(':')));
    },
  };
  return context as HandlerContext;
}

/** Answers with an error without reading the body. */
function refuse(request: HttpRequest, response: HttpResponse, error: RepriseError): void {
  if (isPlain(request)) refusePlainly(response, error);
  else refuseBy(request, response, connectError(error), retryHeader(error));
}

/** Whether a request is answered with plain JSON. Exporters of OpenTelemetry get their own form. */
function isPlain(request: HttpRequest): boolean {
  const path = pathOf(request);
  return path.startsWith('/v1/') && path !== '/v1/traces';
}

/** Answers with an error as JSON; an answer that has begun gets it as its last line, and is cut. */
function refusePlainly(response: HttpResponse, error: RepriseError): void {
  const text = `${JSON.stringify({ error })}\n`;
  const headers = { 'content-type': 'application/json', ...retryHeader(error) };
  if (response.headersSent) writeLast(response, `\n${text}`);
  else send(response, codeToHttpStatus(statusOf[error.code]), headers, text);
}

function writeLast(response: HttpResponse, text: string): void {
  const cut = (): void => cutOff(response);
  if ('stream' in response) response.write(text, 'utf8', cut);
  else response.write(text, 'utf8', cut);
}

/** Answers with an error in the protocol that the request speaks. */
function refuseBy(
  request: HttpRequest,
  response: HttpResponse,
  failure: ConnectError,
  retry: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) {
    cutOff(response);
    return;
  }
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('application/grpc')) {
    const status = new Headers();
    setTrailerStatus(status, failure);
    spellOut(status);
    const headers = { 'content-type': type, ...retry };
    // Clients of HTTP/2 look for the status behind the body; in the headers they find it only without one.
    const isTrailed = 'stream' in response && !type.startsWith('application/grpc-web');
    if (isTrailed) response.addTrailers(Object.fromEntries(status));
    send(response, 200, isTrailed ? headers : { ...headers, ...Object.fromEntries(status) });
    return;
  }
  if (type.startsWith('application/connect+')) {
    const end = Buffer.from(
      JSON.stringify({ error: JSON.parse(Buffer.from(errorToJsonBytes(failure, undefined)).toString()) }),
    );
    send(response, 200, { 'content-type': type, ...retry }, enveloped(end));
    return;
  }
  const headers = { 'content-type': 'application/json', ...retry };
  send(response, codeToHttpStatus(failure.code), headers, errorToJsonBytes(failure, undefined));
}

/** Returns an answer that spells out its status, which is known when everything else was sent. */
function plainly(answered: UniversalServerResponse): UniversalServerResponse {
  const { trailer } = answered;
  if (trailer === undefined) return answered;
  return {
    ...answered,
    get trailer() {
      return spellOut(trailer);
    },
  };
}

/** Escapes no more of the message of a status than it must: clients exist that show an escaped ":" as it came. */
function spellOut(trailer: Headers): Headers {
  const message = trailer.get('grpc-message');
  if (message !== null) trailer.set('grpc-message', encodeURI(decodeURIComponent(message)));
  return trailer;
}

/** The flag of the last message of a Connect stream. */
const endStreamFlag = 2;

function enveloped(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(endStreamFlag);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Returns the header that says when to try again, if the error does. */
function retryHeader({ details }: RepriseError): Readonly<Record<string, string>> {
  const waitMs = numberAt(details, 'waitMs');
  return waitMs === undefined ? {} : { 'retry-after': String(Math.ceil(waitMs / 1_000)) };
}

/** Sends a whole answer. A connection with an unread body cannot be used again. */
export function send(
  response: HttpResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array | string = '',
): void {
  if ('stream' in response) response.writeHead(status, headers);
  else response.writeHead(status, response.req.complete ? headers : { ...headers, connection: 'close' });
  response.end(body);
}
