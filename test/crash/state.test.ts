import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedOfRun } from './random.ts';
import { stateRun } from './state-run.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-state-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('I2 B1 atomicity under a kill: transactions of several processes, some of them killed, are whole, and as if they had run one after the other', async () => {
  const commits = await stateRun(`sqlite:${join(directory, 'store.db')}`, { seed: seedOfRun(), writers: 3, rounds: 3 });
  expect(commits).toBeGreaterThan(10);
});
