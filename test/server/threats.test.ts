/** Attacks on a server that no other test here makes. `docs/internals/threats.md` has the list. */
import { connect as connectHttp2, constants } from 'node:http2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { makeToken, type Server, serve } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';

const platform = createNodePlatform();
let server: Server;
let token = '';

beforeEach(async () => {
  const store = openMemoryStore({ platform });
  const made = makeToken({ rights: ['read', 'append'], namespaces: ['default'] }, platform);
  await store.tokens.add(made.record);
  token = made.token;
  server = await serve({ store, port: 0 });
});
afterEach(() => server.close());

const headers = (): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
});

async function asked(verb: string, body: object): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${server.url}/v1/${verb}`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

describe('forged ids and paths:', () => {
  test.each(['a\u0000b', 'a\nb', 'a\u001b[2Jb', 'x'.repeat(201)])('the session %j is refused', async (session) => {
    const { status, text } = await asked('reprise.createSession', { session });
    expect([status, text.includes('id.invalid')]).toEqual([400, true]);
  });

  test.each(['../../etc/passwd', 'a/b', '%2e%2e', 'a:b@c'])(
    'the session %j is a name like any other',
    async (session) => {
      expect((await asked('reprise.createSession', { session })).status).toBe(200);
      expect((await asked('session.tree', { session })).status).toBe(200);
    },
  );

  test.each([
    '/v1/replay/',
    '/v1/replay/..%2F..%2Fetc%2Fpasswd',
    '/v1/replay/%ff',
    '/../../etc/passwd',
    '/%00',
    '//evil/',
  ])('the path %j gives nothing but an error with a code', async (path) => {
    const response = await fetch(`${server.url}${path}`, { headers: headers() });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(await response.text()).toMatch(/reprise\.v1\.Error|^\{"error":\{"code":"/);
  });

  test('a request id that could forge a line of the log is not taken', async () => {
    const response = await fetch(`${server.url}/healthz`, { headers: { 'x-request-id': 'a b"}' } });
    expect(response.headers.get('x-request-id')).not.toContain('"');
  });
});

test('a client that opens and resets calls without end is cut off, and others are answered', async () => {
  const session = connectHttp2(server.url);
  session.on('error', () => undefined);
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    session.on('close', () => {
      isClosed = true;
      resolve();
    });
  });
  for (let round = 0; round < 200 && !isClosed; round++) {
    for (let count = 0; count < 100 && !session.closed && !session.destroyed; count++) {
      const stream = session.request({ ':path': '/healthz' });
      stream.on('error', () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
  expect((await asked('reprise.createSession', { session: 'after' })).status).toBe(200);
});

test('a pattern that would hold an engine that backtracks does not hold the server', async () => {
  await using reprise = await openReprise({ store: server.url, token });
  const session = await reprise.createSession('demo');
  await session.append({ type: 'note.added', data: { text: `${'a'.repeat(5_000)}!` } });
  const filter = { fields: [{ key: 'text', pattern: '(a+)+$' }] };
  const { status, text } = await asked('look.find', { ref: 'demo', filter });
  expect([status, text]).toEqual([200, 'null\n']);
});
