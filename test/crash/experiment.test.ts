import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { openReprise } from '../../src/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'reprise-experiment-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const child = fileURLToPath(new URL('experiment-child.ts', import.meta.url));

test('an experiment whose process was killed is continued, and no branch with a result runs again', async () => {
  const path = join(directory, 'killed.db');
  const log = join(directory, 'rows.txt');
  {
    await using reprise = await openReprise(`sqlite:${path}`);
    const session = await reprise.createSession('demo');
    await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Well?' } } });
  }
  const run = (...more: readonly string[]) =>
    spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', child, path, log, ...more], {
      encoding: 'utf8',
    });
  expect(run('', '3').signal).toBe('SIGKILL');
  const lines = (): string[] => readFileSync(log, 'utf8').trim().split('\n');
  const [id = ''] = lines()[0]?.split(' ') ?? [];
  expect(lines()).toEqual([`${id} a-1`, `${id} b-1`]);
  expect(run(id, '2').signal).toBe('SIGKILL');
  const { status, stderr } = run(id);
  expect([status, stderr]).toEqual([0, '']);
  const rows = ['a-1', 'b-1', 'a-2', 'b-2', 'a-3', 'b-3'];
  expect(lines()).toEqual(rows.map((row) => `${id} ${row}`));
  await using reprise = await openReprise(`sqlite:${path}`);
  const found = await reprise.findExperiment(id);
  expect(found.rows.map(({ variant, repeat }) => `${variant}-${repeat}`)).toEqual(rows);
  expect(found.rows.every(({ outcome }) => outcome === 'ok')).toBe(true);
});
