import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crashRun } from '../crash/crash-run.ts';
import { seedOfMoment } from '../crash/random.ts';

/** How long to go on; ten minutes unless told otherwise. */
const seconds = Number(process.env['REPRISE_SOAK_SECONDS'] ?? 600);
const killsPerStore = 6;

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-soak-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('I2 acknowledged is forever: writers killed hundreds of times', async () => {
  const seed = seedOfMoment();
  console.log(`soak seed ${seed}, for ${seconds} s`);
  const end = performance.now() + seconds * 1_000;
  let kills = 0;
  let next = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      const index = next++;
      const path = join(directory, `${index}.db`);
      await crashRun(path, { seed: seed + index, kills: killsPerStore, migrating: index % 4 === 3 });
      kills += killsPerStore;
      for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    }
  };
  await Promise.all([lane(), lane()]);
  console.log(`${kills} kills on ${next} stores`);
  expect(kills).toBeGreaterThan(0);
});
