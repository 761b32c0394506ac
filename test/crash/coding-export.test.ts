import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkArtifacts } from '../../src/core/coding/artifact.ts';
import { createNodePlatform, openReprise } from '../../src/index.ts';
import { filesIn } from '../../src/node/folder-writer.ts';
import { recordStory } from '../verbs/coding-story.ts';
import { folderContent } from './export-content.ts';
import { Random } from './random.ts';
import { mountSmallDisk } from './small-disk.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-export-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

const child = fileURLToPath(new URL('./export-child.ts', import.meta.url));

test('an export that is killed leaves the old folder, the new one or none, and never a half', async () => {
  const random = new Random(15);
  const target = join(directory, 'killed');
  const whole = [0, 1].map((which) => JSON.stringify([...folderContent(which)].sort()));
  let found = 0;
  for (let round = 0; round < 8; round++) {
    const writer = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child, target], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'reprise-compile-cache') },
    });
    await once(writer.stdout, 'data');
    await pause(random.below(60));
    writer.kill('SIGKILL');
    await once(writer, 'close');
    const held = await filesIn(target);
    if (held === undefined) continue;
    found += 1;
    expect(whole).toContain(JSON.stringify([...held].sort()));
  }
  expect(found).toBeGreaterThan(0);
});

test('an export to a full disk fails, and the earlier export stands', async ({ skip }) => {
  const disk = mountSmallDisk(90_000);
  if (typeof disk === 'string') return skip(`a really full disk: ${disk}`);
  using _disk = disk;
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('full');
  await recordStory(session.coding);
  const dir = join(disk.path, 'run');
  await session.coding.exportRun('run-1', dir);
  await session.coding.fact({ text: 'x'.repeat(50_000) });
  await session.coding.startRun({ run: 'run-3' });
  await session.coding.evidence({ content: 'y'.repeat(50_000) });
  await expect(session.coding.exportRun('run-3', dir, { replace: true })).rejects.toMatchObject({
    code: 'folder.failed',
  });
  const checked = checkArtifacts(createNodePlatform().sha256, (await filesIn(dir)) ?? new Map());
  expect(checked).toMatchObject({ ok: true, run: 'run-1' });
});
