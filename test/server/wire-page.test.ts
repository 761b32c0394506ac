/** The commands of the page on the wire, each typed into one shell against a server. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { wireWorld } from '../../scripts/wire-world.ts';
import type { Agent } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { serveWith } from '../../src/serve-store.ts';
import { makeToken } from '../../src/server.ts';
import { root } from '../docs/workshop.ts';

/** The exit of curl when the time that it was given is over. */
const timeIsOver = 28;

test('every curl of the page on the wire runs', async () => {
  const page = readFileSync(join(root, 'docs/reference/wire.md'), 'utf8');
  const calls = [...page.matchAll(/^### ([\w.]+)\n[\s\S]*?^```sh\n([\s\S]*?)^```/gm)];
  const platform = createNodePlatform();
  const { store } = await wireWorld();
  const { token, record } = makeToken({ rights: ['admin'] }, platform);
  await store.tokens.add(record);
  const payer: Agent = async ({ recorder }) =>
    await recorder.call({ kind: 'tool', name: 'pay', effect: 'irreversible', input: 5 }, async () => 'paid');
  const agents = { agents: { payer } };
  await using server = await serveWith({ store, port: 0, agents }, { examine: async () => ({ ok: true }) });
  const script = calls.map(([, name, command]) => `${command}\necho "@@ ${name} $?"\n`).join('');
  const { stdout } = await promisify(execFile)('sh', ['-c', script], {
    env: { ...process.env, SERVER: server.url, REPRISE_TOKEN: token },
    encoding: 'latin1',
  });
  const answers = [...stdout.matchAll(/([\s\S]*?)@@ ([\w.]+) (\d+)\n/g)].map(([, text = '', name = '', exit]) => ({
    name,
    exit: Number(exit),
    error: /^\{"error":\{[\s\S]*|"code":\s*"\w+"[\s\S]*/m.exec(text)?.[0],
  }));
  expect(answers.map(({ name }) => name)).toEqual(calls.map(([, name]) => name));
  const wrong = answers.filter(
    ({ name, exit, error }) =>
      (exit !== 0 && !(/^(?:Watch|Follow)$/.test(name) && exit === timeIsOver)) || error !== undefined,
  );
  expect(wrong).toEqual([]);
});
