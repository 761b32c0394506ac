import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { shapes } from '../../scripts/cli-shapes.ts';
import { openReprise } from '../../src/index.ts';

const directories: string[] = [];
const children: ChildProcessByStdio<null, Readable, Readable>[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function started(...values: string[]): ChildProcessByStdio<null, Readable, Readable> {
  const child = spawn(process.execPath, ['src/cli/bin.ts', ...values], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  return child;
}

async function ran(...values: string[]): Promise<{ readonly code: number | null; readonly out: string }> {
  const child = started(...values);
  let out = '';
  child.stdout.on('data', (piece) => {
    out += piece;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out };
}

/** Starts `reprise serve` and waits until it prints its address. */
async function serving(store: string, ...values: string[]) {
  const child = started('serve', '--port', '0', '--json', '--store', store, ...values);
  let log = '';
  child.stderr.on('data', (piece) => {
    log += piece;
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const answer = JSON.parse(line.toString()) as { url: string };
  expect(Object.keys(answer)).toEqual(shapes['serve']?.keys);
  const { url } = answer;
  return { child, url, log: () => log };
}

test('serve prints its address, serves what tokens allow, and drains on SIGTERM', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-serve-'));
  directories.push(directory);
  const store = `sqlite:${join(directory, 'a.db')}`;
  const made = await ran('token', 'create', '--can', 'read,append', '--ttl', '1h', '--json', '--store', store);
  const { token, id, namespaces } = JSON.parse(made.out) as { token: string; id: string; namespaces: string[] };
  expect(namespaces).toEqual(['default']);
  const { child, url, log } = await serving(store);
  const reprise = await openReprise({ store: url, token });
  const session = await reprise.createSession('demo');
  await session.append({ type: 'note.added', data: { text: 'from a different machine' } });
  await expect(session.delete({ confirm: 'demo' })).rejects.toMatchObject({ code: 'store.denied' });
  await reprise.close();
  expect((await ran('token', 'revoke', id, '--json', '--store', store)).code).toBe(0);
  expect((await ran('token', 'list', '--store', store)).out).toContain('revoked');
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(0);
  expect(log()).toContain('"call":"Append"');
  expect(log()).not.toContain(token);
  const direct = await openReprise(store);
  expect((await (await direct.session('demo')).branch()).head).toBe(1);
  await direct.close();
});

test('studio prints its address with a token of its own, and stops on SIGTERM', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-studio-'));
  directories.push(directory);
  const store = `sqlite:${join(directory, 'a.db')}`;
  const own = await openReprise(store);
  await (await own.createSession('a b')).append({ type: 'note.added', data: { text: 'x' } });
  await own.close();
  const child = started('studio', 'a b@1', '--no-open', '--json', '--store', store);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const answer = JSON.parse(line.toString()) as { url: string; store: string };
  expect(Object.keys(answer)).toEqual(shapes['studio']?.keys);
  const { origin, pathname, hash } = new URL(answer.url);
  expect(pathname).toBe('/s/a%20b/main@1');
  const token = hash.replace('#token=', '');
  const agents = await fetch(`${origin}/reprise.v1.StudioService/ListAgents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: '{}',
  });
  expect(await agents.json()).toMatchObject({ canRun: true, agents: [expect.stringContaining('demo')] });
  const examined = await fetch(`${origin}/reprise.v1.StudioService/ReadStore`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: '{}',
  });
  expect(JSON.parse(((await examined.json()) as { answer: string }).answer)).toMatchObject({ ok: true, sessions: 1 });
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(0);
});

test.each([
  [['serve', '--agents', '--store', 'memory:'], 1],
  [['studio', 'nowhere', '--store', 'memory:'], 1],
  [['studio', '--store', 'https://example.com'], 2],
  [['serve', '--host', '0.0.0.0', '--store', 'memory:'], 2],
  [['serve', '--port', 'x', '--store', 'memory:'], 2],
  [['serve', '--store', 'https://example.com'], 2],
  [['token', 'create', '--can', 'everything', '--store', 'memory:'], 2],
  [['token', 'create', '--ttl', 'soon', '--store', 'memory:'], 2],
  [['token', 'revoke', '--store', 'memory:'], 2],
  [['token', 'revoke', 'nothing', '--store', 'memory:'], 1],
  [['token', 'list', '--store', 'https://example.com'], 2],
])('%j ends with %i', async (values, code) => {
  expect((await ran(...values)).code).toBe(code);
});
