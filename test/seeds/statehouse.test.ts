/** The catalogue of a state engine that stands in for Statehouse, line by line, and each promise its source breaks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { stateCatalogue } from './statehouse-catalogue.ts';
import { statePromises } from './statehouse-promises.ts';
import type { StateWorld } from './statehouse-world.ts';

const directory = mkdtempSync(join(tmpdir(), 'reprise-statehouse-'));
let count = 0;
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const worlds: readonly StateWorld[] = [
  { kind: 'memory', newPlace: () => 'memory:', isKept: false },
  { kind: 'SQLite', newPlace: () => `sqlite:${join(directory, `${count++}.db`)}`, isKept: true },
];

for (const world of worlds) {
  stateCatalogue(world);
  statePromises(world);
}
