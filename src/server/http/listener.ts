import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createServer as createHttp2Server,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from 'node:net';

/** A request of HTTP/1.1 or HTTP/2. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;

/** A response of HTTP/1.1 or HTTP/2. */
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** Answers a request. */
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void;

/** The certificate of a server and its key, as PEM. */
export interface Certificate {
  readonly key: string | Buffer;
  readonly cert: string | Buffer;
}

/** The most that one client, and all together, may take up. */
export interface ListenerLimits {
  readonly connections: number;
  readonly streamsPerConnection: number;
  readonly headerBytes: number;
  /** How long a connection may take to say which protocol it speaks, or to send its headers. */
  readonly greetingMs: number;
  readonly idleMs: number;
}

/** One port that speaks HTTP/1.1 and HTTP/2. */
export interface Listener {
  readonly port: number;
  /** Uses a new certificate for connections from now on. */
  readonly renew: (certificate: Certificate) => void;
  /** Takes no new connections, and ends the idle ones. */
  readonly stop: () => void;
  /** Ends every connection. */
  readonly destroy: () => void;
}

/** Listens on a port, with TLS if there is a certificate. */
export async function listen(
  handler: HttpHandler,
  { host, port, certificate, limits }: ListenOptions,
): Promise<Listener> {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const { server, onStop, renew } =
    certificate === undefined
      ? clearServer(handler, limits, sessions)
      : tlsServer(handler, limits, sessions, certificate);
  server.maxConnections = limits.connections;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    renew,
    stop: () => {
      server.close();
      onStop();
      for (const session of sessions) session.close();
    },
    destroy: () => {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Returns the address of a server, as a client gives it to `openReprise`. */
export function addressOf({ host, certificate }: Pick<ListenOptions, 'host' | 'certificate'>, port: number): string {
  return `${certificate === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Where to listen, and how much to accept. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate?: Certificate;
  readonly limits: ListenerLimits;
}

interface Serving {
  readonly server: Server;
  readonly onStop: () => void;
  readonly renew: (certificate: Certificate) => void;
}

function http2Options({ streamsPerConnection, headerBytes }: ListenerLimits) {
  return {
    settings: { maxConcurrentStreams: streamsPerConnection, maxHeaderListSize: headerBytes },
    maxHeaderListPairs: 64,
    // A client that opens and resets streams without end is cut off.
    streamResetBurst: 2_000,
    streamResetRate: 200,
  };
}

function tlsServer(
  handler: HttpHandler,
  limits: ListenerLimits,
  sessions: Set<ServerHttp2Session>,
  certificate: Certificate,
): Serving {
  const { greetingMs, idleMs } = limits;
  const server = createSecureServer(
    {
      ...http2Options(limits),
      ...certificate,
      allowHTTP1: true,
      handshakeTimeout: greetingMs,
      minVersion: 'TLSv1.2',
    },
    handler,
  );
  server.on('session', (session) => keepSession(session, sessions, idleMs));
  return { server, onStop: () => undefined, renew: (renewed) => server.setSecureContext(renewed) };
}

/** The first bytes of an HTTP/2 connection. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Node has no server for both protocols without TLS, so the first bytes decide which one gets the connection. */
function clearServer(handler: HttpHandler, limits: ListenerLimits, sessions: Set<ServerHttp2Session>): Serving {
  const { headerBytes, greetingMs, idleMs } = limits;
  // An import would load even the clients of HTTP in Node, which takes longer than the rest of the start.
  const http1 = process
    .getBuiltinModule('node:http')
    .createServer({ maxHeaderSize: headerBytes, headersTimeout: greetingMs, keepAliveTimeout: idleMs }, handler);
  const http2 = createHttp2Server(http2Options(limits), handler);
  http2.on('session', (session) => keepSession(session, sessions, idleMs));
  const server = createNetServer({ noDelay: true }, (socket) => {
    greet(socket, greetingMs, (isHttp2) => (isHttp2 ? http2 : http1).emit('connection', socket));
  });
  return { server, onStop: () => http1.closeIdleConnections(), renew: () => undefined };
}

/** Reads the first bytes of a connection, puts them back, and says whether they are those of HTTP/2. */
function greet(socket: Socket, waitMs: number, choose: (isHttp2: boolean) => void): void {
  const timer = setTimeout(() => socket.destroy(), waitMs);
  let read = Buffer.alloc(0);
  const onReadable = (): void => {
    for (let chunk: unknown = socket.read(); chunk !== null; chunk = socket.read())
      read = Buffer.concat([read, chunk as Buffer]);
    const length = Math.min(read.length, preface.length);
    const isHttp2 = read.subarray(0, length).equals(preface.subarray(0, length));
    if (length === 0 || (isHttp2 && length < preface.length)) return;
    socket.off('readable', onReadable);
    clearTimeout(timer);
    socket.unshift(read);
    choose(isHttp2);
  };
  socket.on('readable', onReadable);
  socket.on('close', () => clearTimeout(timer));
}

function keepSession(session: ServerHttp2Session, sessions: Set<ServerHttp2Session>, idleMs: number): void {
  sessions.add(session);
  session.on('close', () => sessions.delete(session));
  session.on('error', () => session.destroy());
  session.setTimeout(idleMs, () => session.close());
}
