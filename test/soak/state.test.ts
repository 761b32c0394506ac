import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedOfMoment } from '../crash/random.ts';
import { stateRun } from '../crash/state-run.ts';

/** How long to go on; ten minutes unless told otherwise. */
const seconds = Number(process.env['REPRISE_SOAK_SECONDS'] ?? 600);

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-soak-state-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('I2 transactions of many processes with crashes are as if they had run one after the other', async () => {
  const seed = seedOfMoment();
  console.log(`soak seed ${seed}, for ${seconds} s`);
  const end = performance.now() + seconds * 1_000;
  let commits = 0;
  for (let index = 0; performance.now() < end; index++) {
    const path = join(directory, `${index}.db`);
    commits += await stateRun(`sqlite:${path}`, { seed: seed + index, writers: 4, rounds: 6 });
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  }
  console.log(`${commits} commits`);
  expect(commits).toBeGreaterThan(0);
});
