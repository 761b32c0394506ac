/** The files of the studio as a browser gets them, from a folder that stands for a build. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readStudioFiles, sendStudio } from '../../src/server/studio-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'reprise-files-'));
const code = 'export const words = "the same words";\n'.repeat(100);
let server: Server;

beforeAll(async () => {
  mkdirSync(join(folder, 'studio/assets'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), 'beside the build');
  writeFileSync(join(folder, 'studio/index.html'), '<!doctype html><title>Reprise</title>');
  writeFileSync(join(folder, 'studio/assets/main-a1b2.js'), code);
  writeFileSync(join(folder, 'studio/assets/main-a1b2.js.map'), '{}');
  const files = readStudioFiles(join(folder, 'studio'));
  server = createServer((asked, response) => {
    if (!sendStudio(files, asked, response)) response.writeHead(404).end('nothing of the studio');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Asks for a path as it is, without what a client would tidy. */
function asked(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, method, headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    });
    sent.on('error', reject).end();
  });
}

test.each(['/', '/s/demo/main@3?panel=why', '/s/a%2Fb%40c/tree', '/runs', '/store'])(
  'the screen %s is the page, under the policy, and asked about each time',
  async (path) => {
    const { status, headers, body } = await asked(path);
    expect([status, body.toString()]).toEqual([200, '<!doctype html><title>Reprise</title>']);
    expect(headers).toMatchObject({ 'cache-control': 'no-cache', 'x-frame-options': 'DENY' });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    const again = await asked(path, { 'if-none-match': String(headers.etag) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  },
);

test('an asset is packed for those who take it, and kept for good under its name', async () => {
  const path = '/assets/main-a1b2.js';
  const packed = await asked(path, { 'accept-encoding': 'br, gzip' });
  expect(packed.headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-type': 'text/javascript; charset=utf-8',
  });
  expect(packed.headers['cache-control']).toContain('immutable');
  expect(gunzipSync(packed.body).toString()).toBe(code);
  const plain = await asked(path);
  expect([plain.headers['content-encoding'], plain.body.toString()]).toEqual([undefined, code]);
  const head = await asked(path, {}, 'HEAD');
  expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, String(code.length), 0]);
});

test.each([
  '/../secret.txt',
  '/assets/../../secret.txt',
  '/assets/..%2f..%2fsecret.txt',
  '/secret.txt',
  '/assets/main-a1b2.js.map',
  '/assets/',
  '/__proto__',
  '/unknown',
])('the path %s is nothing of the studio', async (path) => {
  const { status, body } = await asked(path);
  expect([status, body.toString()]).toEqual([404, 'nothing of the studio']);
});

test('nothing is posted to a page; a folder without a build says how to make one', async () => {
  expect((await asked('/', {}, 'POST')).status).toBe(404);
  expect(readStudioFiles(join(folder, 'nowhere'))).toBeUndefined();
  expect(readStudioFiles(join(folder, 'studio/assets'))).toBeUndefined();
});
