import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkArtifacts } from '../../src/core/coding/artifact.ts';
import { createNodePlatform, openReprise } from '../../src/index.ts';
import { filesIn } from '../../src/node/folder-writer.ts';
import { recordStory } from '../verbs/coding-story.ts';
import { countingPlatform } from './recorded-history.ts';

const kept = join(import.meta.dirname, 'exports');
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-exports-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Exports a run of the story from a log whose ids, times and salts are always the same. */
async function exported(run: string): Promise<ReadonlyMap<string, string>> {
  const { writeFolder } = createNodePlatform();
  const platform = {
    ...countingPlatform(),
    ...(writeFolder === undefined ? {} : { writeFolder }),
    runFacts: async () => ({}),
  };
  await using reprise = await openReprise({ store: 'memory:', platform });
  const session = await reprise.createSession('story');
  await recordStory(session.coding);
  const dir = join(directory, run);
  await session.coding.exportRun(run, dir, { anthropic: run === 'run-2' });
  return (await filesIn(dir)) ?? new Map();
}

test.each(['run-1', 'run-2'])('I3 the export of %s is the one of 0.1.0, byte for byte', async (run) => {
  const made = await exported(run);
  const file = join(kept, '0.1.0', `${run}.json`);
  const golden = new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>));
  expect([...made.keys()].sort()).toEqual([...golden.keys()].sort());
  for (const [name, text] of golden) expect(made.get(name), name).toBe(text);
  expect(checkArtifacts(createNodePlatform().sha256, golden)).toMatchObject({ ok: true, run });
});
