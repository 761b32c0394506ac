import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedOfMoment } from '../crash/random.ts';
import { report, rowsOf } from './soak-rows.ts';
import { soakRun } from './soak-run.ts';

/** How long to go on; ten minutes unless told otherwise. */
const whole = 600;
const seconds = Number(process.env['REPRISE_SOAK_SECONDS'] ?? whole);
const crew = { writers: 3, followers: 3 };

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-soak-file-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('I2 acknowledged is forever: processes that share a file killed again and again', async () => {
  const seed = seedOfMoment();
  console.log(`soak seed ${seed}, for ${seconds} s`);
  const url = `sqlite:${join(directory, 'soak.db')}`;
  const figures = await soakRun({ ...crew, url, directory, seconds, seed, faults: {} });
  report('SQLite', rowsOf(figures, { ...crew, store: 'SQLite', seconds, more: '' }), seconds >= whole);
  expect(figures).toMatchObject({ lost: 0, doubled: 0, misled: 0, unverified: 0 });
  expect(figures.acknowledged).toBeGreaterThan(seconds);
});
