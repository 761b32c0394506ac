import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkArtifacts } from '../../src/core/coding/artifact.ts';
import { createNodePlatform } from '../../src/index.ts';
import { exportedRun, exportedRuns } from './recorded-export.ts';

const kept = join(import.meta.dirname, 'exports');
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-exports-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test.each(exportedRuns)('I3 the export of %s is the one of 0.1.0, byte for byte', async (run) => {
  const made = await exportedRun(run, join(directory, run));
  const file = join(kept, '0.1.0', `${run}.json`);
  const golden = new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>));
  expect([...made.keys()].sort()).toEqual([...golden.keys()].sort());
  for (const [name, text] of golden) expect(made.get(name), name).toBe(text);
  expect(checkArtifacts(createNodePlatform().sha256, golden)).toMatchObject({ ok: true, run });
});
