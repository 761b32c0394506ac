import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer } from 'node:net';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { expect, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { ServerService } from '../../src/wire/generated/reprise/v1/server_pb.ts';

async function listening(server: NetServer) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() };
}

/** A server of a different release. */
const ofProtocol = (protocol: number) =>
  connectNodeAdapter({
    routes: (router) =>
      router.service(ServerService, { getVersion: () => ({ product: 'reprise', release: '9.9.9', protocol }) }),
  });

test.each([
  [99, 'store.newer'],
  [0, 'store.unsupported'],
])('a server that speaks version %i is refused with %s, naming both releases', async (protocol, code) => {
  using server = await listening(createHttp2Server(ofProtocol(protocol)));
  const { version } = (await import('../../package.json', { with: { type: 'json' } })).default;
  const opened = openReprise({ store: server.url, token: 'x' });
  await expect(opened).rejects.toMatchObject({ code, details: { server: '9.9.9', client: version } });
});

test('something else that answers is no store', async () => {
  using server = await listening(createServer((_, response) => void response.writeHead(404).end('nothing here')));
  const opened = openReprise({ store: `${server.url}?transport=connect`, token: 'x', busyWaitMs: 0 });
  await expect(opened).rejects.toMatchObject({ code: 'store.not-found', message: expect.stringContaining(server.url) });
});

test('a server that takes connections and says nothing cannot be reached, and ends no process', async () => {
  using server = await listening(createNetServer());
  const opened = openReprise({ store: server.url, token: 'x', busyWaitMs: 0 });
  await expect(opened).rejects.toMatchObject({ code: 'store.unreachable' });
});

test.each([
  ['durability', { durability: 'process' as const }, 'option.invalid'],
  ['a token in the URL', { store: 'http://user:secret@127.0.0.1:1' }, 'store.unsupported'],
  ['an unknown parameter', { store: 'http://127.0.0.1:1?token=secret' }, 'store.unsupported'],
  ['an unknown transport', { store: 'http://127.0.0.1:1?transport=pigeon' }, 'store.unsupported'],
])('%s is refused, and not printed', async (_, options, code) => {
  const error = await openReprise({ store: 'http://127.0.0.1:1', ...options }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code });
  expect(JSON.stringify([String(error), error])).not.toContain('secret');
});
