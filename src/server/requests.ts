import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect';
import {
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from '@connectrpc/connect-node';
import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { RepriseError } from '../core/error.ts';
import { connectError, type ReportFailure, withErrors } from './call-failure.ts';
import type { Grant } from './grant.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from './listener.ts';

const grantKey = createContextKey<Grant | undefined>(undefined);

/** Returns who makes a call. */
export function grantOf(context: HandlerContext): Grant {
  const grant = context.values.get(grantKey);
  if (grant === undefined) throw new RepriseError('token.invalid', 'Cannot answer: the call has no token');
  return grant;
}

/** The parts of the server that a request goes through. */
export interface RequestParts {
  /** Refuses a request for its headers alone: a foreign host, a page of a different site, a server that is full. */
  readonly admit: (request: HttpRequest) => void;
  /** Finds out who calls, before the body is read. */
  readonly authenticate: (authorization: string | undefined) => Promise<Grant>;
  readonly routes: (router: ConnectRouter) => void;
  /** Pages for everyone, such as `/healthz`; true if it answered. */
  readonly open: (request: HttpRequest, response: HttpResponse) => boolean;
  readonly report: ReportFailure;
  /** The largest message that is read. */
  readonly bodyBytesMax: number;
}

/** Returns the function that answers every request of the port. */
export function requestHandler(parts: RequestParts): HttpHandler {
  const router = createConnectRouter({
    interceptors: [withErrors(parts.report)],
    readMaxBytes: parts.bodyBytesMax,
    acceptCompression: [compressionGzip],
    // Compressing each message of a stream costs far more than the network does.
    compressMinBytes: 1_048_576,
  });
  parts.routes(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    response.on('error', () => undefined);
    void answer(request, response).catch((error) => {
      if (!(error instanceof RepriseError)) parts.report(request.url ?? '', error);
      refuse(request, response, error instanceof RepriseError ? error : new RepriseError('store.failed', 'Cannot answer'));
    });
  };

  async function answer(request: HttpRequest, response: HttpResponse): Promise<void> {
    parts.admit(request);
    if (parts.open(request, response)) return;
    const grant = await parts.authenticate(request.headers.authorization);
    const handler = handlers.get(pathOf(request));
    if (handler === undefined) throw nothingThere(request);
    const values = createContextValues().set(grantKey, grant);
    try {
      const called = universalRequestFromNodeRequest(request, response, undefined, values);
      await universalResponseToNodeResponse(await handler(called), response);
    } catch (error) {
      // The client left in the middle; there is nobody to tell.
      if (ConnectError.from(error).code !== Code.Aborted && !response.destroyed) throw error;
    }
  }
}

/** Returns the path of a request without its parameters. */
export function pathOf(request: HttpRequest): string {
  return request.url?.split('?', 1)[0] ?? '';
}

function nothingThere(request: HttpRequest): RepriseError {
  return new RepriseError('store.unsupported', `Cannot find ${JSON.stringify(pathOf(request).slice(0, 200))} here`, {
    hint: 'See docs/reference/wire.md for the calls of a server.',
  });
}

/** Answers with an error without reading the body, in the protocol that the request speaks. */
export function refuse(request: HttpRequest, response: HttpResponse, error: RepriseError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const failure = connectError(error);
  const type = request.headers['content-type'] ?? '';
  if (/^application\/grpc(?!-web)/.test(type)) {
    const headers = new Headers({ 'content-type': type });
    setTrailerStatus(headers, failure);
    send(response, 200, Object.fromEntries(headers));
  } else send(response, codeToHttpStatus(failure.code), { 'content-type': 'application/json' }, errorToJsonBytes(failure, undefined));
}

/** Sends a whole answer. A connection with an unread body cannot be used again. */
export function send(
  response: HttpResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array | string = '',
): void {
  const isHttp1 = !('stream' in response);
  const { req } = response;
  const isUnread = isHttp1 && !req.complete;
  if ('stream' in response) response.writeHead(status, headers);
  else response.writeHead(status, isUnread ? { ...headers, connection: 'close' } : headers);
  response.end(body);
}
