import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crashRun } from './crash-run.ts';
import { seedOfRun } from './random.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-crash-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('I2 acknowledged is forever: forty writers killed at any moment lose nothing and leave nothing half-written', async () => {
  const seed = seedOfRun();
  console.log(`crash seed ${seed}`);
  const run = { seed, kills: 5 };
  const stores = Array.from({ length: 8 }, (_, index) => index);
  const pairs = [stores.slice(0, 4), stores.slice(4)];
  const counts = await Promise.all(
    pairs.map(async (held) => {
      let events = 0;
      for (const index of held) {
        const path = join(directory, `${index}.db`);
        events += await crashRun(path, { ...run, seed: seed + index, migrating: index % 4 === 3 });
      }
      return events;
    }),
  );
  expect(Math.min(...counts)).toBeGreaterThan(0);
}, 300_000);
