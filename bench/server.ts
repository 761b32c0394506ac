/** The cost of a server: replays against a bare socket, appends against an embedded store, followers, memory, its start. */
import { spawn } from 'node:child_process';
import { Agent, get } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { openReprise, type Reprise, type Session } from '../src/index.ts';
import { SessionService } from '../src/wire/generated/reprise/v1/session_pb.ts';
import { builtProgram } from './cli.ts';
import { followed } from './load.ts';
import { alternate, atLeast, atMost, bytes, median, percentile, type Row, spread, time, timeEach } from './measure.ts';
import { BenchServer } from './postgres.ts';
import { Served } from './served.ts';
import { drafts, payloads } from './workload.ts';
import { sessionId, type Workspace } from './workspace.ts';

const writers = 64;
const stalledBytesMax = 8 * 1_048_576;
const idleBytesMax = 64 * 1_024;

/** Rows of the server. */
export async function benchServer(workspace: Workspace): Promise<Row[]> {
  return [
    ...(await replays(workspace)),
    ...(await appends(workspace)),
    ...(await followers(workspace)),
    ...(await memory(workspace)),
    await start(workspace),
  ];
}

async function replays(workspace: Workspace): Promise<Row[]> {
  const { events, rounds } = workspace.sizes;
  await using served = await Served.start(await workspace.history(events));
  const grpc = grpcReplay(served);
  const times = await alternate(rounds, {
    bare: () => timeEach(1, () => bareReplay(served)),
    grpc: () => timeEach(1, grpc),
    lines: () => timeEach(1, () => linesReplay(served)),
  });
  const size = `${events.toLocaleString('en')} events`;
  const beside = (own: readonly number[]): string =>
    `${spread(own)} against ${spread(times.bare)} for the rows read and written to a bare socket`;
  const row = (name: string, own: readonly number[], limit: number): Row =>
    atMost({
      name: `server: replay of ${size} by ${name}, against a bare socket`,
      value: median(own) / median(times.bare),
      limit,
      unit: '×',
      detail: beside(own),
      cause: 'decoding each event and writing it as JSON',
    });
  return [row('gRPC', times.grpc, 3), row('lines of JSON', times.lines, 1.3)];
}

async function bareReplay({ barePort }: Served): Promise<void> {
  await drained(connect(barePort, '127.0.0.1'));
}

async function drained(stream: AsyncIterable<unknown>): Promise<number> {
  let length = 0;
  for await (const chunk of stream) length += (chunk as Buffer).length;
  return length;
}

async function linesReplay({ url, token }: Served): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const request = get(`${url}/v1/replay/${sessionId}?history=raw`, { headers: bearer(token) }, (response) => {
      drained(response).then(() => resolve(), reject);
    });
    request.on('error', reject);
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

function grpcReplay({ url, token }: Served): () => Promise<void> {
  const client = createClient(SessionService, createGrpcTransport({ baseUrl: url }));
  return async () => {
    const request = { ref: sessionId, history: 'raw' };
    for await (const _ of client.replayEvents(request, { headers: bearer(token) }));
  };
}

async function appends(workspace: Workspace): Promise<Row[]> {
  const { isQuick, diskRounds } = workspace.sizes;
  const count = isQuick ? 5 : 100;
  await using served = await Served.start(workspace.path('server.db'), 'disk');
  await using remote = await openReprise({ store: served.url, token: served.token });
  await using embedded = await openReprise({ store: `sqlite:${workspace.path('server.db')}` });
  const batch = drafts(payloads(200, 600), count);
  const [near, far] = [await sessionsOf(embedded), await sessionsOf(remote)];
  const one = (session: Session | undefined) => () =>
    timeEach(count, async () => {
      for (const draft of batch) await session?.append(draft);
    });
  const many = (sessions: readonly Session[]) => () =>
    timeEach(count * writers, () => Promise.all(sessions.map((session) => one(session)())));
  const times = await alternate(isQuick ? 1 : diskRounds, {
    embedded: one(near[0]),
    served: one(far[0]),
    manyEmbedded: many(near),
    manyServed: many(far),
  });
  return [
    atMost({
      name: 'server: an append, over an embedded one',
      value: median(times.served) - median(times.embedded),
      limit: 1.5,
      unit: ' ms',
      detail: `${spread(times.served)} against ${spread(times.embedded)}, both durable`,
      cause: 'a call there and back',
    }),
    atLeast({
      name: `server: ${writers} writers in one client, against as many embedded ones`,
      value: median(times.manyEmbedded) / median(times.manyServed),
      limit: 0.5,
      unit: '×',
      detail: `${spread(times.manyServed)} an append against ${spread(times.manyEmbedded)}`,
      cause: 'making keys and checking each event at the server',
    }),
  ];
}

async function sessionsOf(reprise: Reprise): Promise<Session[]> {
  return await Promise.all(
    Array.from({ length: writers }, (_, index) => reprise.session(`w${index}`, { create: true })),
  );
}

async function followers(workspace: Workspace): Promise<Row[]> {
  const { isQuick } = workspace.sizes;
  const count = isQuick ? 20 : 2_000;
  const row = (name: string, waits: readonly number[], limit: number): Row =>
    atMost({
      name,
      value: percentile(waits, 0.99),
      limit,
      unit: ' ms',
      detail: `${count} appends; half of them ${time(percentile(waits, 0.5))}, the slowest ${time(Math.max(...waits))}`,
      cause: 'the machine was busy, or the notice came late',
    });
  await using served = await Served.start(workspace.path('server.db'));
  const own = await followed([served.url], [served.token], count);
  await using postgres = await BenchServer.start();
  const url = postgres.storeUrl();
  await using first = await Served.start(url);
  await using second = await Served.start(url);
  const across = await followed([first.url, second.url], [first.token, second.token], count);
  return [
    row('server: from an append to a follower, 99th percentile', own, 50),
    row('server: the same through two servers on PostgreSQL', across, 100),
  ];
}

async function memory(workspace: Workspace): Promise<Row[]> {
  await using served = await Served.start(await workspace.history(workspace.sizes.events));
  return [await stalledMemory(served, workspace), await idleMemory(served, workspace)];
}

async function stalledMemory(served: Served, { sizes }: Workspace): Promise<Row> {
  const readers = sizes.isQuick ? 1 : 8;
  await drained(connect(served.barePort, '127.0.0.1'));
  await linesReplay(served);
  const before = await served.memory();
  const stalled = await Promise.all(Array.from({ length: readers }, () => stalledReader(served)));
  const during = await served.memory();
  for (const end of stalled) end();
  return atMost({
    name: 'server: memory of a reader that stopped',
    value: Math.max(0, during.held - before.held) / readers / 1_048_576,
    limit: stalledBytesMax / 1_048_576,
    unit: ' MiB',
    detail: `${readers} readers, half by gRPC and half by lines; ${bytes(before.held)} before, ${bytes(during.held)} with them`,
    cause: 'pages and messages that wait',
  });
}

/**
 * Takes the memory of the process, because most of a connection is not in the heap. The first connections pay, too, for
 * pools that the later ones share, so they are there before it begins.
 */
async function idleMemory(served: Served, { sizes }: Workspace): Promise<Row> {
  const [first, more] = sizes.isQuick ? [2, 5] : [200, 1_000];
  const kinds = { 'HTTP/2': idleHttp2, 'HTTP/1.1': idleHttp1 };
  const found: { readonly kind: string; readonly each: number; readonly detail: string }[] = [];
  for (const [kind, open] of Object.entries(kinds)) {
    const idle = await Promise.all(Array.from({ length: first }, () => open(served)));
    const before = await served.memory();
    idle.push(...(await Promise.all(Array.from({ length: more }, () => open(served)))));
    const held = await served.memory();
    // Each of them must still be there, or nothing was measured.
    await Promise.all(idle.map(({ ask }) => ask()));
    for (const { end } of idle) end();
    found.push({
      kind,
      each: (held.rss - before.rss) / more,
      detail: `${kind}: ${bytes(before.rss)} with ${first}, ${bytes(held.rss)} with ${more} more`,
    });
  }
  return atMost({
    name: 'server: memory of an idle connection',
    value: Math.max(...found.map(({ each }) => each)) / 1_024,
    limit: idleBytesMax / 1_024,
    unit: ' KiB',
    detail: `the process, each connection after a call; ${found.map(({ detail }) => detail).join('; ')}`,
    cause: 'buffers of HTTP/2',
  });
}

let turns = 0;

/** Asks for a replay and takes a little of it; the returned function lets go. */
async function stalledReader({ url, token }: Served): Promise<() => void> {
  if (turns++ % 2 === 0) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`GET /v1/replay/${sessionId} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`);
    await readOnce(socket);
    return () => socket.destroy();
  }
  const client = createClient(SessionService, createGrpcTransport({ baseUrl: url }));
  const stop = new AbortController();
  const options = { headers: bearer(token), signal: stop.signal };
  await client.replayEvents({ ref: sessionId }, options)[Symbol.asyncIterator]().next();
  return () => stop.abort();
}

async function readOnce(socket: Socket): Promise<void> {
  await new Promise((resolve) => socket.once('readable', resolve));
  socket.read(1);
}

/** A connection that has made a call, and waits for the next. */
interface IdleConnection {
  /** Makes a call. */
  readonly ask: () => Promise<void>;
  readonly end: () => void;
}

async function idleHttp2({ url }: Served): Promise<IdleConnection> {
  const session = connectHttp2(url);
  const ask = async (): Promise<void> => {
    const stream = session.request({ ':path': '/healthz' });
    await drained(stream);
  };
  await ask();
  return { ask, end: () => session.destroy() };
}

async function idleHttp1({ url }: Served): Promise<IdleConnection> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (): Promise<void> => {
    await new Promise<void>((resolve, reject) => {
      get(`${url}/healthz`, { agent }, (response) => {
        drained(response).then(() => resolve(), reject);
      }).on('error', reject);
    });
  };
  await ask();
  return { ask, end: () => agent.destroy() };
}

async function start(workspace: Workspace): Promise<Row> {
  const { isQuick, rounds } = workspace.sizes;
  const program = builtProgram();
  let files = 0;
  const times = await alternate(isQuick ? 1 : rounds, {
    ready: () => timeEach(1, () => servedOnce(program, workspace.path(`ready-${++files}.db`))),
    node: () => timeEach(1, () => printedOnce([process.execPath, '-p', '0'])),
  });
  return atMost({
    name: 'server: reprise serve is ready',
    value: median(times.ready),
    limit: 300,
    unit: ' ms',
    detail: `${spread(times.ready)} on a new file; node alone ${spread(times.node)}`,
    cause: 'starting Node and reading our code',
  });
}

async function servedOnce(program: string, path: string): Promise<void> {
  await printedOnce([process.execPath, program, 'serve', '--port', '0', '--json', '--store', `sqlite:${path}`]);
}

async function printedOnce([program = '', ...words]: readonly string[]): Promise<void> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}
