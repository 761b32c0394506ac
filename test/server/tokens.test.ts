import { request as httpRequest } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import type { Platform } from '../../src/core/store/event-store.ts';
import { openReprise, RepriseError } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { serveWith } from '../../src/serve-store.ts';
import { makeToken, type NewToken, type Server, serve } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { until } from '../until.ts';

const running: Server[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

/** A server whose clock the test sets. */
async function served() {
  const clock = { now: '2026-11-15T10:00:00.000Z', elapsedMs: 0 };
  const platform: Platform = {
    ...createNodePlatform(),
    now: () => clock.now,
    elapsedMs: () => clock.elapsedMs,
  };
  const store = openMemoryStore({ platform });
  await store.createSession({ namespace: 'default', session: 'demo' }, { root: 'main', seed: 'x' });
  await store.createSession({ namespace: 'other', session: 'demo' }, { root: 'main', seed: 'x' });
  const lines: object[] = [];
  const server = await serve({ store, port: 0, platform, log: (line) => lines.push(line) });
  running.push(server);
  const made = async (options: NewToken): Promise<string> => {
    const { token, record } = makeToken(options, platform);
    await store.tokens.add(record);
    return token;
  };
  return { server, store, clock, made, lines };
}

async function codeOf(server: Server, token: string | undefined, namespace = 'default'): Promise<string> {
  try {
    const options = { store: server.url, namespace, busyWaitMs: 0, ...(token === undefined ? {} : { token }) };
    await using reprise = await openReprise(options);
    await reprise.session('demo');
    return 'ok';
  } catch (error) {
    return error instanceof RepriseError ? error.code : String(error);
  }
}

test('no token, a wrong one, and one that is almost right are refused alike', async () => {
  const { server, made } = await served();
  const token = await made({ rights: ['read'], namespaces: ['default'] });
  expect(await codeOf(server, token)).toBe('ok');
  const last = token.at(-1) === 'A' ? 'B' : 'A';
  const wrong = [
    undefined,
    '',
    'x',
    `${token}x`,
    `${token.slice(0, -1)}${last}`,
    `rpt_${'0'.repeat(12)}_${token.slice(17)}`,
  ];
  for (const each of wrong) expect(await codeOf(server, each)).toBe('token.invalid');
});

test('a token ends when it expires, and soon after it is revoked', async () => {
  const { server, store, clock, made } = await served();
  const token = await made({ rights: ['read'], ttlMs: 60_000 });
  expect(await codeOf(server, token)).toBe('ok');
  clock.now = '2026-11-15T10:01:00.000Z';
  clock.elapsedMs += 5_000;
  expect(await codeOf(server, token)).toBe('token.invalid');
  const other = await made({ rights: ['read'] });
  expect(await codeOf(server, other)).toBe('ok');
  await store.tokens.revoke(other.split('_')[1] ?? '', clock.now);
  clock.elapsedMs += 5_000;
  expect(await codeOf(server, other)).toBe('token.invalid');
});

test('an open answer ends when its token was revoked', async () => {
  const { server, store, clock, made } = await served();
  const token = await made({ rights: ['read'] });
  const headers = { authorization: `Bearer ${token}` };
  const watch = vi.spyOn(store, 'watch');
  const answer = await fetch(`${server.url}/v1/replay/demo?follow=true`, { headers });
  await using reprise = await openReprise({ store: server.url, token });
  const session = await reprise.session('demo');
  const following = expect(Array.fromAsync(session.replay({ follow: true }))).rejects.toMatchObject({
    code: 'token.invalid',
  });
  await using bound = await openReprise({ store: server.url, token: await made({ rights: ['read'], agent: 'a1' }) });
  const own = (await bound.session('demo')).as('a1').state.replay({ follow: true });
  const ownFollowing = expect(own.next()).rejects.toMatchObject({ code: 'token.invalid' });
  // They wait for the first message of their answers.
  await until(() => watch.mock.calls.length === 3);
  for (const { id } of await store.tokens.list()) await store.tokens.revoke(id, clock.now);
  clock.elapsedMs += 5_000;
  await expect(answer.text()).rejects.toThrow('terminated');
  await following;
  await ownFollowing;
});

test('a namespace of others is denied, whether it exists or not', async () => {
  const { server, made } = await served();
  const token = await made({ rights: ['admin'], namespaces: ['default'] });
  expect([await codeOf(server, token, 'other'), await codeOf(server, token, 'nowhere')]).toEqual([
    'store.denied',
    'store.denied',
  ]);
});

test('no line of the log holds a token, its hash or a payload', async () => {
  const { server, store, made, lines } = await served();
  const token = await made({ rights: ['read', 'append'] });
  await using reprise = await openReprise({ store: server.url, token });
  const session = await reprise.session('demo');
  await session.append({ type: 'note.added', data: { text: 'a secret thing' } });
  expect(await codeOf(server, `${token}x`)).toBe('token.invalid');
  const text = JSON.stringify(lines);
  expect(text).toContain('"call":"Append"');
  expect(text).toContain('"code":"token.invalid"');
  const [record] = await store.tokens.list();
  // The secret is base64url, which may hold "_" too.
  const [, , ...secret] = token.split('_');
  for (const hidden of [token, secret.join('_'), record?.hash ?? '', 'a secret thing'])
    expect(text).not.toContain(hidden);
});

/** Sends headers with the body still to come, and gives the status of the answer. */
function answerTo(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/reprise.v1.StoreService/Append`, { method: 'POST', headers });
    request.on('error', reject);
    request.on('response', (response) => {
      resolve(response.statusCode);
      request.destroy();
    });
    request.flushHeaders();
  });
}

test('a token is checked before the body is read', async () => {
  const { server } = await served();
  const headers = { 'content-type': 'application/proto', 'content-length': '1000000' };
  expect(await answerTo(server.url, headers)).toBe(401);
});

test.each([
  [{ host: 'evil.example' }, 403],
  [{ origin: 'https://evil.example' }, 403],
  [{ origin: 'null' }, 403],
])('a request with the header %o is refused, so that no page of a different site gets in', async (header, status) => {
  const { server, made } = await served();
  const token = await made({ rights: ['admin'] });
  const sent = { 'content-type': 'application/json', 'content-length': '2', authorization: `Bearer ${token}` };
  expect(await answerTo(server.url, { ...sent, ...header })).toBe(status);
});

test('an address that other machines reach needs TLS, or an explicit word', async () => {
  await expect(serve({ store: 'memory:', host: '0.0.0.0', port: 0 })).rejects.toMatchObject({
    code: 'option.invalid',
    message: expect.stringContaining('TLS'),
  });
  await using server = await serve({ store: 'memory:', host: '0.0.0.0', port: 0, insecure: true });
  expect(server.url).toMatch(/^http:/);
});

test('the figures are for "admin", or for everyone if that was asked for', async () => {
  const { server, made } = await served();
  const figures = async (token?: string): Promise<Response> =>
    await fetch(`${server.url}/metrics`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
  expect((await figures()).status).toBe(401);
  for (const asked of [{ rights: ['read'] }, { rights: ['admin'], agent: 'a1' }] as const)
    expect((await figures(await made(asked))).status).toBe(403);
  const admin = await made({ rights: ['admin'] });
  expect(await codeOf(server, admin)).toBe('ok');
  const text = await (await figures(admin)).text();
  expect(text).toContain('reprise_build_info{release="');
  expect(text).toContain('reprise_requests_total{call="GetSession",code="ok"} 1');
  expect(text).toContain('reprise_bytes_queued 0');
  expect(text).toMatch(/reprise_denials_total\{code="token.invalid"\} 1/);
  await using open = await serveWith({ store: 'memory:', port: 0 }, { openMetrics: true });
  expect((await fetch(`${open.url}/metrics`)).status).toBe(200);
});

test('everyone may ask whether the server is there', async () => {
  const { server } = await served();
  for (const path of ['healthz', 'readyz']) expect((await fetch(`${server.url}/${path}`)).status).toBe(200);
  expect((await fetch(`${server.url}/nothing`)).status).toBe(401);
});
