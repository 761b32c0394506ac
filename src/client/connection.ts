import { Agent as HttpAgent } from 'node:http';
import type { ClientHttp2Stream } from 'node:http2';
import { Agent as HttpsAgent } from 'node:https';
import type { Interceptor, Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { tokenHeader } from '../wire/protocol.ts';
import { withUnary } from './grpc-unary.ts';
import type { ServerAddress } from './server-address.ts';

/** A way to call a server, and how to let go of it. */
export interface Connection {
  readonly transport: Transport;
  readonly close: () => void;
}

/** How often a connection with open calls is asked whether it is alive, and how long it may take to answer. */
const pingMs = { least: 1_000, most: 5_000 };

/** The sessions of a client. An error of one that was given up concerns no caller, and must not end the process. */
class QuietSessions extends Http2SessionManager {
  readonly #known = new WeakSet<object>();

  override async request(...asked: Parameters<Http2SessionManager['request']>): Promise<ClientHttp2Stream> {
    const stream = await super.request(...asked);
    const { session } = stream;
    if (session !== undefined && !this.#known.has(session)) {
      this.#known.add(session);
      session.on('error', () => undefined);
    }
    return stream;
  }
}

/** How long a call on HTTP/1.1 may take, which has no pings: a call to a server that is gone would never end. */
const callMs = 60_000;

/** Messages are compressed only from this size on: gzip costs more than it saves on a fast network. */
const compressMinBytes = 1_048_576;

/** Connects to a server when the first call is made. A caller that waits less finds out sooner that the server is gone. */
export function connect({ url, transport }: ServerAddress, token: string | undefined, busyWaitMs: number): Connection {
  const interceptors = token === undefined ? [] : [withToken(token)];
  if (transport === 'grpc') {
    const everyMs = Math.min(pingMs.most, Math.max(pingMs.least, busyWaitMs / 2));
    const sessions = new QuietSessions(url, { pingIntervalMs: everyMs, pingTimeoutMs: everyMs });
    const headers: Readonly<Record<string, string>> = token === undefined ? {} : { [tokenHeader]: `Bearer ${token}` };
    const streams = createGrpcTransport({ baseUrl: url, sessionManager: sessions, interceptors, compressMinBytes });
    return {
      transport: withUnary({ url, headers, sessions, transport: streams }),
      close: () => sessions.abort(),
    };
  }
  const agent = url.startsWith('https:') ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  return {
    transport: createConnectTransport({
      baseUrl: url,
      httpVersion: '1.1',
      nodeOptions: { agent },
      useBinaryFormat: true,
      defaultTimeoutMs: callMs,
      interceptors,
      compressMinBytes,
    }),
    close: () => agent.destroy(),
  };
}

function withToken(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set(tokenHeader, `Bearer ${token}`);
    return next(request);
  };
}
