import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Code, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterEach, expect, test } from 'vitest';
import { openRemoteStore } from '../../src/client/open-remote-store.ts';
import { limits } from '../../src/core/limits.ts';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createReprise } from '../../src/engine/reprise-parts.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { CallRates } from '../../src/server/guarding/call-rates.ts';
import { BodyBudget } from '../../src/server/http/body-budget.ts';
import { connectError } from '../../src/server/http/call-failure.ts';
import { listen } from '../../src/server/http/listener.ts';
import { type RunningServer, startServer } from '../../src/server/running-server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { SessionService } from '../../src/wire/generated/reprise/v1/session_pb.ts';
import { everything } from './running-server.ts';

const platform = createNodePlatform();
const running: RunningServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

const usual = {
  connections: limits.serverConnectionsMax,
  streamsPerConnection: limits.serverStreamsMax,
  headerBytes: limits.serverHeaderBytesMax,
  greetingMs: limits.serverGreetingMsMax,
  idleMs: limits.serverIdleMsMax,
  bodyBytes: limits.serverBodyBytesMax,
  bodyMs: limits.serverBodyMsMax,
  callsPerSecond: limits.serverCallsPerSecondMax,
  stalledMs: limits.serverStalledMsMax,
  gatherMs: limits.serverGatherMsMax,
  bytesInFlight: limits.serverBytesInFlightMax,
  graceMs: limits.serverGraceMsMax,
};

async function served(
  changed: Partial<Record<keyof typeof usual, number>>,
  store: EventStore = openMemoryStore({ platform }),
): Promise<RunningServer> {
  const held = { ...usual, ...changed };
  const server = await startServer({
    store,
    platform,
    release: 'test',
    authenticate: async () => everything,
    host: '127.0.0.1',
    listen: (handler) => listen(handler, { host: '127.0.0.1', port: 0, limits: held }),
    hostNames: { names: [], loopback: true },
    openMetrics: false,
    loadFormats: async () => [],
    loadSpans: async () => ({ documentOf: () => undefined, draftsOf: () => [] }),
    recording: {},
    log: () => undefined,
    limits: held,
  });
  running.push(server);
  return server;
}

const call = async (server: RunningServer, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  await fetch(`${server.url}/reprise.v1.VerbService/Call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

const opening = JSON.stringify({
  verb: 'reprise.session',
  arguments: JSON.stringify({ session: 'demo', create: true }),
});

/** Connects, and resolves when the server ends the connection. */
function ended(server: RunningServer, hello = ''): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(hello));
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.on('close', () => resolve(socket));
  });
}

test('a body over "serverBodyBytesMax" is refused', async () => {
  const server = await served({ bodyBytes: 100 });
  expect((await call(server, opening)).status).toBe(200);
  expect((await call(server, JSON.stringify({ verb: 'x'.repeat(200) }))).status).toBe(429);
});

test('requests over "serverBytesInFlightMax" together get "store.busy"', async () => {
  const server = await served({ bytesInFlight: 10 });
  expect((await call(server, opening)).status).toBe(503);
  const seen: number[] = [];
  const budget = new BodyBudget(10, (bytes) => seen.push(bytes));
  const piece = async function* () {
    yield new Uint8Array(6);
  };
  const [first, second] = [budget.open(connectError), budget.open(connectError)];
  for await (const _ of first.counted(piece()));
  await expect(async () => {
    for await (const _ of second.counted(piece()));
  }).rejects.toMatchObject({ code: Code.Unavailable, message: expect.stringContaining('10 bytes') });
  first.release();
  expect(seen).toEqual([6, 0]);
});

test('spans, and the bytes that a body unpacks to, count for "serverBytesInFlightMax"', async () => {
  const server = await served({ bytesInFlight: 1_000 });
  const spans = async (body: Uint8Array<ArrayBuffer>, encoding: string): Promise<Response> =>
    await fetch(`${server.url}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      body,
    });
  const long = Buffer.from(JSON.stringify({ resourceSpans: [], padding: 'x'.repeat(2_000) }));
  expect((await spans(new Uint8Array(long), 'identity')).status).toBe(503);
  const answer = await spans(new Uint8Array(gzipSync(long)), 'gzip');
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('store.busy')]);
  expect((await spans(new Uint8Array(Buffer.from('{"resourceSpans":[]}')), 'identity')).status).toBe(200);
  const packed = gzipSync(JSON.stringify({ verb: 'x'.repeat(2_000) }));
  const called = await fetch(`${server.url}/reprise.v1.VerbService/Call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: new Uint8Array(packed),
  });
  expect([called.status, await called.text()]).toEqual([503, expect.stringContaining('store.busy')]);
});

test('a stream of many messages holds the bytes of one of them', async () => {
  const server = await served({ bytesInFlight: 2_000 });
  await call(server, opening);
  const client = createClient(SessionService, createGrpcTransport({ baseUrl: server.url }));
  const events = [JSON.stringify({ type: 'note.added', data: { text: 'x'.repeat(700) } })];
  async function* batches() {
    for (let batch = 1n; batch <= 10n; batch++) yield { batch, append: { ref: 'demo', events } };
  }
  const answers = await Array.fromAsync(client.streamAppends(batches()), ({ batch, error }) => error ?? batch);
  expect(answers).toEqual(Array.from({ length: 10 }, (_, index) => BigInt(index + 1)));
});

test('calls of a token over "serverCallsPerSecondMax" are refused, and say when to try again', async () => {
  const server = await served({ callsPerSecond: 2 });
  const statuses = [];
  for (let count = 0; count < 3; count++) statuses.push(await call(server, opening));
  const [, , third] = statuses;
  expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(third?.headers.get('retry-after')).toBe('1');
  expect(await third?.text()).toContain('limit.exceeded');
  const clock = { ms: 0 };
  const rates = new CallRates(2, () => clock.ms);
  for (let count = 0; count < 2; count++) rates.check(everything);
  expect(() => rates.check(everything)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ waitMs: 500 }) }),
  );
  clock.ms = 500;
  rates.check(everything);
  expect(() => rates.check({ ...everything, token: 'other' })).not.toThrow();
});

test('a client waits as long as the server says, and goes on', async () => {
  const server = await served({ callsPerSecond: 5 });
  const remote = await openRemoteStore({ url: server.url, platform, release: 'test' });
  const ref = { namespace: 'default', session: 'demo' };
  for (let count = 0; count < 8; count++) expect(await remote.session(ref)).toBeUndefined();
  await remote.close();
});

test('a call whose body does not come within "serverBodyMsMax" is ended', async () => {
  const server = await served({ bodyMs: 50 });
  const head =
    'POST /reprise.v1.VerbService/Call HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{';
  await ended(server, head);
});

test('the answer to a client that takes nothing for "serverStalledMsMax" is ended', async () => {
  const store = openMemoryStore({ platform });
  const reprise = createReprise({ store, platform });
  const session = await reprise.createSession('demo');
  const text = 'x'.repeat(100_000);
  for (let count = 0; count < 200; count++)
    await session.append({ type: 'note.added', data: { text: `${count}${text}` } });
  const server = await served({ stalledMs: 100 }, store);
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET /v1/replay/demo HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
  await new Promise((resolve) => socket.once('readable', resolve));
  // It reads only after the server has given up, and then finds the answer cut.
  await expect.poll(() => server.open, { timeout: 30_000 }).toBe(0);
  let bytes = 0;
  for await (const piece of socket) bytes += (piece as Buffer).length;
  expect(bytes).toBeLessThan(20_000_000);
});

test('headers over "serverHeaderBytesMax" are refused', async () => {
  const server = await served({ headerBytes: 1_024 });
  expect((await call(server, opening, { 'x-long': 'x'.repeat(2_000) })).status).toBe(431);
});

test('connections over "serverConnectionsMax" are ended', async () => {
  const server = await served({ connections: 0 });
  await ended(server);
});

test('a connection that says nothing for "serverGreetingMsMax" is ended', async () => {
  await ended(await served({ greetingMs: 50 }));
  await ended(await served({ greetingMs: 50 }), 'PRI * HT');
});

test('a connection that is idle for "serverIdleMsMax" is ended', async () => {
  const server = await served({ idleMs: 50 });
  const session = connectHttp2(server.url);
  await new Promise((resolve) => session.on('close', resolve));
});

test('a client learns that it may have "serverStreamsMax" calls under way', async () => {
  const server = await served({ streamsPerConnection: 7 });
  const session = connectHttp2(server.url);
  const settings = await new Promise<{ maxConcurrentStreams?: number }>((resolve) =>
    session.on('remoteSettings', resolve),
  );
  expect(settings.maxConcurrentStreams).toBe(7);
  session.destroy();
});

test('a server that stops waits for the calls under way, for "serverGraceMsMax" at most', async () => {
  const server = await served({ graceMs: 50 });
  await call(server, opening);
  const follow = await fetch(`${server.url}/v1/replay/demo?follow=true&history=raw`).catch(() => undefined);
  await server.close();
  await follow?.text().catch(() => undefined);
  await expect(call(server, opening)).rejects.toThrow('fetch failed');
});
