import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { shapes } from '../../scripts/cli-shapes.ts';
import { openReprise } from '../../src/index.ts';
import { root } from '../docs/workshop.ts';
import { Place } from '../e2e/cli/run.ts';
import type { Started } from '../e2e/cli/started.ts';
import { markNewer } from '../e2e/cli/tamper.ts';

let place: Place;
beforeAll(() => {
  place = new Place(undefined, { isFile: true });
});
afterAll(() => place[Symbol.dispose]());

const servers: Started[] = [];
afterEach(async () => {
  for (const started of servers.splice(0)) {
    const { child } = started;
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await started.ended();
  }
});

/** Starts `reprise serve` and waits until it prints its address. */
async function serving(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const started = place.start(['serve', '--json', ...words], { env });
  servers.push(started);
  await started.until(({ stdout }) => stdout.includes('\n'));
  const answer = JSON.parse(started.stdout) as { url: string };
  expect(Object.keys(answer)).toEqual(shapes['serve']?.keys);
  return { started, url: answer.url };
}

test('serve prints its address, serves what tokens allow, and drains on SIGTERM', async () => {
  const { token, id, namespaces } = await place.json('token', 'create', '--can', 'read,append,run', '--ttl', '1h');
  expect(namespaces).toEqual(['default']);
  const config = join(place.folder, 'reprise.config.mjs');
  writeFileSync(config, 'export default { agents: { echo: async ({ prompt }) => String(prompt?.content) } };\n');
  const { started, url } = await serving(['--port', '0', '--agents']);
  rmSync(config);
  const listed = await fetch(`${url}/reprise.v1.StudioService/ListAgents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${String(token)}` },
    body: '{}',
  });
  expect(await listed.json()).toEqual({ canRun: true, agents: ['{"name":"echo","kind":"function"}'] });
  const reprise = await openReprise({ store: url, token: String(token) });
  const session = await reprise.createSession('demo');
  await session.append({ type: 'note.added', data: { text: 'from a different machine' } });
  await expect(session.delete({ confirm: 'demo' })).rejects.toMatchObject({ code: 'store.denied' });
  await reprise.close();
  expect((await place.run(['token', 'revoke', String(id)])).code).toBe(0);
  expect((await place.run(['token', 'list'])).stdout).toContain('revoked');
  started.child.kill('SIGTERM');
  expect(await started.ended()).toBe(0);
  expect(started.stderr).toContain('"call":"Append"');
  expect(started.stderr).not.toContain(token);
  await using direct = await place.open();
  expect((await (await direct.session('demo')).locate()).head).toBe(1);
});

/** Returns the fingerprint of the certificate that a server shows. */
function shownCertificate(url: string, ca: readonly Buffer[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const port = Number(new URL(url).port);
    const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: [...ca] }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

test('serve with TLS takes its options from variables, reads new files on SIGHUP, and doctor looks at it', async () => {
  const pem = (name: string): string => join(root, 'test/fixtures/tls', `${name}.pem`);
  const install = (name: string): void => {
    for (const kind of ['cert', 'key']) copyFileSync(pem(`${name}.${kind}`), join(place.folder, `${kind}.pem`));
  };
  install('first');
  const { token } = await place.json('token', 'create', '--can', 'read');
  const { started, url } = await serving([], {
    REPRISE_PORT: '0',
    REPRISE_HOST: '127.0.0.1',
    REPRISE_TLS_CERT: 'cert.pem',
    REPRISE_TLS_KEY: 'key.pem',
    REPRISE_GRACE: '100',
  });
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:/);
  const env = { REPRISE_TOKEN: String(token), NODE_EXTRA_CA_CERTS: pem('first.cert') };
  const looked = await place.runAlone(['doctor', '--json', '--store', url], { env });
  expect(JSON.parse(looked.stdout)).toMatchObject({
    ok: true,
    location: url,
    store: { kind: 'sqlite', facts: expect.arrayContaining([{ name: 'token', text: 'read; default' }]) },
  });
  const ca = ['first', 'second'].map((name) => readFileSync(pem(`${name}.cert`)));
  const before = await shownCertificate(url, ca);
  install('second');
  started.child.kill('SIGHUP');
  await expect.poll(() => shownCertificate(url, ca), { timeout: 30_000 }).not.toBe(before);
  started.child.kill('SIGTERM');
  expect(await started.ended()).toBe(0);
});

/** Starts `reprise studio` in a place; returns its address, and a function that makes a call with its token. */
async function studioOf(where: Place, words: readonly string[] = []) {
  const started = where.start(['studio', ...words, '--no-open', '--json']);
  servers.push(started);
  await started.until(({ stdout }) => stdout.includes('\n'));
  const answer = JSON.parse(started.stdout) as { url: string };
  const { origin, pathname, hash } = new URL(answer.url);
  const call = async (name: string): Promise<Record<string, unknown>> => {
    const answered = await fetch(`${origin}/reprise.v1.StudioService/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${hash.replace('#token=', '')}` },
      body: '{}',
    });
    return (await answered.json()) as Record<string, unknown>;
  };
  return { started, answer, pathname, call };
}

test('studio opens where nothing is recorded yet; a store of a newer release is refused with what to do', async () => {
  using empty = new Place(undefined, { isFile: true });
  const { started, call } = await studioOf(empty);
  expect(await call('ReadSessions')).toEqual({});
  {
    await using own = await empty.open();
    await (await own.createSession('first')).append({ type: 'note.added', data: { text: 'x' } });
  }
  expect(await call('ReadSessions')).toMatchObject({ sessions: [expect.stringContaining('"first"')] });
  started.child.kill('SIGKILL');
  await started.ended();
  await markNewer(empty);
  const { code, stderr } = await empty.run(['studio', '--no-open']);
  expect([code, stderr]).toEqual([3, expect.stringContaining('newer release')]);
});

test('studio prints its address with a token of its own, and stops on SIGTERM', async () => {
  await using own = await place.open();
  await (await own.createSession('a b')).append({ type: 'note.added', data: { text: 'x' } });
  const { started, answer, pathname, call } = await studioOf(place, ['a b@1']);
  expect(Object.keys(answer)).toEqual(shapes['studio']?.keys);
  expect(pathname).toBe('/s/a%20b/main@1');
  expect(await call('ListAgents')).toMatchObject({ canRun: true, agents: [expect.stringContaining('demo')] });
  expect(JSON.parse(String((await call('ReadStore'))['answer']))).toMatchObject({ ok: true });
  started.child.kill('SIGTERM');
  expect(await started.ended()).toBe(0);
});

test.each([
  [['serve', '--agents', '--store', 'memory:'], 1],
  [['studio', 'nowhere', '--store', 'memory:'], 1],
  [['serve', '--host', '0.0.0.0', '--store', 'memory:'], 2],
  [['serve', '--port', 'x', '--store', 'memory:'], 2],
  [['serve', '--rate', 'x', '--store', 'memory:'], 2],
  [['serve', '--rate', '0', '--port', '0'], 2],
  [['serve', '--store', 'memory:', '--port', '0'], 2],
  [['serve', '--tls-cert', 'cert.pem', '--store', 'memory:'], 2],
  [['token', 'create', '--can', 'everything'], 2],
  [['token', 'create', '--ttl', 'soon'], 2],
  [['token', 'revoke'], 2],
  [['token', 'revoke', 'nothing'], 1],
  [['token', 'list', '--store', 'https://example.com'], 2],
])('%j ends with %i', async (words, code) => {
  expect((await place.run(words)).code).toBe(code);
});

test.each([
  ['serve', 'https://example.com', 'Open its address in a browser'],
  ['studio', 'https://example.com', 'Open its address in a browser'],
  ['serve', 'bundle:shared.tgz', 'reprise import BUNDLE --store sqlite:PATH'],
  ['studio', 'bundle:shared.tgz', 'reprise import BUNDLE --store sqlite:PATH'],
])('%s --store %s says what to do instead', async (command, store, hint) => {
  const { code, stderr } = await place.run([command, '--store', store]);
  expect(code).toBe(2);
  expect(stderr).toContain(hint);
});
