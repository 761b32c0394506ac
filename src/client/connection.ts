import { Agent as HttpAgent } from 'node:http';
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
const pings = { pingIntervalMs: 5_000, pingTimeoutMs: 5_000 };

/** How long a call on HTTP/1.1 may take, which has no pings: a call to a server that is gone would never end. */
const callMs = 60_000;

/** Messages are compressed only from this size on: gzip costs more than it saves on a fast network. */
const compressMinBytes = 1_048_576;

/** Connects to a server when the first call is made. */
export function connect({ url, transport }: ServerAddress, token: string | undefined): Connection {
  const interceptors = token === undefined ? [] : [withToken(token)];
  if (transport === 'grpc') {
    const sessions = new Http2SessionManager(url, pings);
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
