/** Secrets of every documented kind, in every place that takes text, looked for in the bytes on disk. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { builtInRules } from '../../src/core/masking/masking-options.ts';
import { openReprise } from '../../src/index.ts';
import { plantByAdapters, plantBySaver } from './planted-adapters.ts';
import { plantByRecorder } from './planted-recorder.ts';
import { fileContent, ownRules, type Planted, plantedRules, secretsIn } from './planted-secrets.ts';

/** A hundred little agents take a while on a busy machine. */
const patienceMs = 600_000;

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-planted-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const plantings = {
  'a recorder': plantByRecorder,
  'every adapter': plantByAdapters,
  'the saver': plantBySaver,
} as const;

test.each(Object.entries(plantings))(
  'no secret that %s was given is anywhere in the file, while it is written and after',
  { timeout: patienceMs },
  async (_, plantAll) => {
    const path = join(folder, 'a.db');
    const reprise = await openReprise({ store: `sqlite:${path}`, durability: 'process', masking: ownRules });
    const planted: Planted[] = await plantAll((id) => reprise.createSession(id), reprise, true);
    const during = fileContent(path);
    await reprise.close();
    const content = Buffer.concat([during, fileContent(path)]);
    expect(secretsIn(planted, content)).toEqual([]);
    expect(content.includes('[masked ')).toBe(true);
  },
);

test.each(Object.entries(plantings))(
  'without masking every secret that %s was given is there, so the search finds them',
  { timeout: patienceMs },
  async (_, plantAll) => {
    const path = join(folder, 'a.db');
    const reprise = await openReprise({ store: `sqlite:${path}`, durability: 'process', masking: false });
    const planted: Planted[] = await plantAll((id) => reprise.createSession(id), reprise, false);
    await reprise.close();
    expect(secretsIn(planted, fileContent(path), false)).toEqual([]);
    expect(plantedRules(planted)).toEqual([...builtInRules, 'customer', 'iban'].sort());
  },
);

test('every rule that the guide documents is planted, and the other way around', () => {
  const guide = readFileSync(new URL('../../docs/guides/masking.md', import.meta.url), 'utf8');
  const rows = guide.split('\n').filter((line) => line.startsWith('| `'));
  const documented = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([a-z-]+)`/g)].map(([, rule]) => rule),
  );
  expect(documented.sort()).toEqual([...builtInRules].sort());
});
