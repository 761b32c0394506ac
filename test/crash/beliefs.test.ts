import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { beliefRun } from './belief-run.ts';
import { forwardRun } from './forward-run.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-beliefs-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('I2 B5 processes that commit to shared and separate topics are killed, and one side stands everywhere', async () => {
  expect(await beliefRun(`sqlite:${join(directory, 'store.db')}`)).toBeGreaterThanOrEqual(24);
});

test('I2 B5 a run forward that is killed in the middle of turns goes on in a new process, and pays nothing twice', async () => {
  await forwardRun(`sqlite:${join(directory, 'forward.db')}`, join(directory, 'paid.txt'));
});
