import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fewOrAll } from '../how-many.ts';
import { crashRun } from './crash-run.ts';
import { seedOfRun } from './random.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-crash-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('I2 acknowledged is forever: writers killed at any moment lose nothing and leave nothing half-written', async () => {
  const seed = seedOfRun();
  console.log(`crash seed ${seed}`);
  // Eight writers on two files, of which a newer release migrates one; forty on eight files with all tests.
  const run = { seed, kills: fewOrAll(4, 5) };
  const pairs = fewOrAll(
    [[0], [3]],
    [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ],
  );
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
