import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { createNodePlatform } from '../../src/node/platform.ts';
import { makeToken, serve } from '../../src/server.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { root } from '../docs/workshop.ts';

const directory = mkdtempSync(join(tmpdir(), 'reprise-python-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Returns a Python; undefined if there is none. */
function installedPython(): string | undefined {
  return ['python3', '/usr/bin/python3'].find((python) => {
    try {
      execFileSync(python, ['-c', 'import json, urllib.request'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

const python = installedPython();
if (python === undefined) console.log('Skipped: the Python guide does not run, since no Python is installed.');

test.skipIf(python === undefined)('the program of the Python guide prints what the guide says', async () => {
  const page = readFileSync(join(root, 'docs/guides/python.md'), 'utf8');
  const blocks = [...page.matchAll(/^```(python|text)\n([\s\S]*?)^```/gm)].map(([, kind, text]) => ({ kind, text }));
  const program = blocks.flatMap(({ kind, text }) => (kind === 'python' ? [text] : [])).join('\n');
  const printed = blocks.flatMap(({ kind, text = '' }) => (kind === 'text' && !text.startsWith('$') ? [text] : []));
  writeFileSync(join(directory, 'guide.py'), program);
  const platform = createNodePlatform();
  const store = openMemoryStore({ platform });
  const { token, record } = makeToken({ rights: ['read', 'append'] }, platform);
  await store.tokens.add(record);
  await using server = await serve({ store, port: 0 });
  const { stdout } = await promisify(execFile)(python ?? '', ['guide.py'], {
    cwd: directory,
    env: { ...process.env, REPRISE_TOKEN: token, REPRISE_SERVER: server.url },
  });
  expect(stdout).toBe(printed.join(''));
});
