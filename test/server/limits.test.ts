import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { Code } from '@connectrpc/connect';
import { afterEach, expect, test } from 'vitest';
import { limits } from '../../src/core/limits.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { BodyBudget } from '../../src/server/body-budget.ts';
import { type RunningServer, startServer } from '../../src/server/running-server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
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
  bytesInFlight: limits.serverBytesInFlightMax,
  graceMs: limits.serverGraceMsMax,
};

async function served(changed: Partial<Record<keyof typeof usual, number>>): Promise<RunningServer> {
  const server = await startServer({
    store: openMemoryStore({ platform }),
    platform,
    release: 'test',
    authenticate: async () => everything,
    host: '127.0.0.1',
    port: 0,
    hostNames: 'loopback',
    openMetrics: false,
    formats: [],
    log: () => undefined,
    limits: { ...usual, ...changed },
  });
  running.push(server);
  return server;
}

const call = async (server: RunningServer, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  await fetch(`${server.url}/reprise.v1.SessionService/OpenSession`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

const opening = JSON.stringify({ session: 'demo', create: true });

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
  expect((await call(server, JSON.stringify({ session: 'x'.repeat(200) }))).status).toBe(429);
});

test('requests over "serverBytesInFlightMax" together get "store.busy"', async () => {
  const server = await served({ bytesInFlight: 10 });
  expect((await call(server, opening)).status).toBe(503);
  const seen: number[] = [];
  const budget = new BodyBudget(10, (bytes) => seen.push(bytes));
  const piece = async function* () {
    yield new Uint8Array(6);
  };
  const [first, second] = [budget.counted(piece()), budget.counted(piece())];
  for await (const _ of first.body);
  await expect(async () => {
    for await (const _ of second.body);
  }).rejects.toMatchObject({ code: Code.Unavailable, message: expect.stringContaining('10 bytes') });
  first.release();
  expect(seen).toEqual([6, 0]);
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
