import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { killCopies, recordLong } from '../crash/copy-run.ts';
import { seedOfRun } from '../crash/random.ts';
import { fewOrAll } from '../how-many.ts';
import { newPlace } from './place.ts';

const kills = fewOrAll(1, 4);

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-copy-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('I2 a copy to PostgreSQL that is killed goes on where it was, and one back to a file does', async () => {
  const [file, server] = [`sqlite:${join(directory, 'from.db')}`, newPlace()];
  await recordLong(file);
  await killCopies({ from: file, to: server, kills, seed: seedOfRun() });
  await killCopies({ from: server, to: `sqlite:${join(directory, 'back.db')}`, kills, seed: seedOfRun() });
});
