import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkArtifacts } from '../../src/core/coding/artifact.ts';
import { createNodePlatform, openReprise, type Reprise } from '../../src/index.ts';
import { filesIn } from '../../src/node/folder-writer.ts';
import { recordStory } from '../verbs/coding-story.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-export-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

const names = [
  'coding_diff_from_previous.json',
  'coding_projection.after.json',
  'coding_projection.before.json',
  'events.json',
  'manifest.json',
  'prepared_openai_request.json',
  'receipt.json',
  'receipt.md',
  'run.json',
  'snapshot.json',
  'snapshot.md',
  'state_records.json',
];

async function story(reprise: Reprise, id = 'repo') {
  const session = await reprise.createSession(id);
  await recordStory(session.coding);
  return session;
}

const json = async (...path: readonly string[]): Promise<unknown> => JSON.parse(await readFile(join(...path), 'utf8'));
const { sha256 } = createNodePlatform();

test('exportRun() writes exactly twelve files, which verify, and gives the same wherever the same log is exported', async () => {
  await using reprise = await openReprise('memory:');
  await using other = await openReprise('memory:');
  const session = await story(reprise);
  const [one, two] = [join(directory, 'one'), join(directory, 'deep', 'er', 'two')];
  const first = await session.coding.exportRun('run-2', one);
  expect((await readdir(one)).sort()).toEqual(names);
  expect(first.files.map(({ name }) => name).sort()).toEqual(names);
  const second = await session.coding.exportRun('run-2', two);
  expect({ ...second, dir: '' }).toEqual({ ...first, dir: '' });
  await reprise.copy(other, { sessions: ['repo'] });
  const copied = await (await other.session('repo')).coding.exportRun('run-2', join(directory, 'three'));
  expect(copied.manifestHash).toBe(first.manifestHash);
  expect(checkArtifacts(sha256, (await filesIn(one)) ?? new Map())).toMatchObject({
    ok: true,
    run: 'run-2',
    files: 12,
  });
});

test('an export says what was known before and after, what changed since the previous run, and what was asked', async () => {
  await using reprise = await openReprise('memory:');
  const session = await story(reprise);
  const [first, second] = [join(directory, 'run-1'), join(directory, 'run-2')];
  await session.coding.exportRun('run-1', first);
  await session.coding.exportRun('run-2', second, { anthropic: true });
  expect(await json(first, 'coding_projection.before.json')).toMatchObject({ goal: null, failures: [] });
  expect(await json(first, 'coding_diff_from_previous.json')).toMatchObject({
    previous: null,
    newlyActive: [{ from: null }],
  });
  expect(await json(first, 'prepared_openai_request.json')).toMatchObject({
    request: null,
    reason: expect.any(String),
  });
  expect(await json(second, 'coding_projection.before.json')).toMatchObject({ failures: [{ status: 'active' }] });
  expect(await json(second, 'coding_projection.after.json')).toMatchObject({
    failures: [{ status: 'resolved' }, { status: 'active' }],
  });
  expect(await json(second, 'coding_diff_from_previous.json')).toMatchObject({
    previous: 'run-1',
    resolved: [{ to: 'resolved' }],
  });
  expect(await json(second, 'run.json')).toMatchObject({
    run: 'run-2',
    title: 'Fix the CLI',
    outcome: 'ok',
    previous: 'run-1',
    events: 8,
  });
  const replay = await session.coding.replayRun('run-2');
  expect(await json(second, 'prepared_openai_request.json')).toEqual(replay.request?.openai);
  expect(await json(second, 'prepared_anthropic_request.json')).toEqual(replay.request?.anthropic);
  expect(await readFile(join(second, 'snapshot.md'), 'utf8')).toBe(replay.context.text);
  for (const [name, text] of (await filesIn(second)) ?? [])
    if (name.endsWith('.json')) expect(text, name).toMatch(/^[^\r]*[^\n\r]\n$/);
});

test('a folder with other content is refused, stays as it was, and is replaced when asked', async () => {
  await using reprise = await openReprise('memory:');
  const session = await story(reprise);
  const dir = join(directory, 'taken');
  await session.coding.exportRun('run-1', dir);
  await session.coding.exportRun('run-1', dir);
  await expect(session.coding.exportRun('run-2', dir)).rejects.toMatchObject({ code: 'folder.exists' });
  expect(await json(dir, 'manifest.json')).toMatchObject({ run: 'run-1' });
  await session.coding.exportRun('run-2', dir, { replace: true });
  expect(await json(dir, 'manifest.json')).toMatchObject({ run: 'run-2' });
  expect((await readdir(directory)).filter((name) => name.startsWith('.taken'))).toEqual([]);
  await mkdir(join(directory, 'pipe'));
  execFileSync('mkfifo', [join(directory, 'pipe', 'manifest.json')]);
  await expect(session.coding.exportRun('run-1', join(directory, 'pipe'))).rejects.toMatchObject({
    code: 'folder.exists',
  });
  await symlink(join(directory, 'pipe'), join(directory, 'link'));
  await session.coding.exportRun('run-1', join(directory, 'link'), { replace: true });
  expect(await readdir(join(directory, 'pipe'))).toEqual(['manifest.json']);
  expect(await json(directory, 'link', 'manifest.json')).toMatchObject({ run: 'run-1' });
  await writeFile(join(directory, 'a file'), 'x');
  await expect(session.coding.exportRun('run-1', join(directory, 'a file'))).rejects.toMatchObject({
    code: 'folder.failed',
  });
  await expect(session.coding.exportRun('run-1', join(directory, 'a file', 'in'))).rejects.toMatchObject({
    code: 'folder.failed',
  });
});

test('every exported artifact altered or gone: a replay gives the same, and a check names the first file', async () => {
  await using reprise = await openReprise('memory:');
  const session = await story(reprise);
  const dir = join(directory, 'altered');
  await session.coding.exportRun('run-2', dir);
  const before = await session.coding.replayRun('run-2', { prepareRequest: true });
  const files = (await filesIn(dir)) ?? new Map<string, string>();
  for (const name of names) {
    const changed = checkArtifacts(sha256, new Map([...files, [name, `${files.get(name)} `]]));
    expect([changed.ok, changed.firstBad], name).toEqual([false, name]);
    const gone = checkArtifacts(sha256, new Map([...files].filter(([other]) => other !== name)));
    expect([gone.ok, gone.firstBad], name).toEqual([false, name]);
  }
  expect(checkArtifacts(sha256, new Map([...files, ['more.json', '{}']])).firstBad).toBe('more.json');
  for (const name of names) await writeFile(join(dir, name), 'altered');
  expect(await session.coding.replayRun('run-2', { prepareRequest: true })).toEqual(before);
  await rm(dir, { recursive: true });
  expect(await session.coding.replayRun('run-2', { prepareRequest: true })).toEqual(before);
});

test('paths are stored relative to the git root, and the messages of tests name no folder of the machine', async () => {
  const root = await mkdtemp(join(directory, 'project-'));
  execFileSync('git', ['init', '-q', root]);
  const project = { root, folder: 'packages/app' };
  await using reprise = await openReprise({
    store: 'memory:',
    platform: { ...createNodePlatform(), project: () => project },
  });
  const { coding } = await reprise.createSession('paths');
  expect((await coding.patch({ file: 'src/a.ts', after: '' })).data['path']).toBe('packages/app/src/a.ts');
  expect((await coding.patch({ file: join(root, 'b.ts'), after: '' })).data['path']).toBe('b.ts');
  expect((await coding.patch({ file: '../../c.ts', after: '' })).data['path']).toBe('c.ts');
  const failures = [{ testId: `${root}/packages/app/t.test.ts::x`, message: `at ${root}/packages/app/t.ts:3` }];
  const ran = await coding.testRun({ command: 'vitest run t.test.ts', exitCode: 1, framework: 'vitest', failures });
  expect(ran.data).toMatchObject({
    failures: [{ test: 'packages/app/t.test.ts::x', message: 'at packages/app/t.ts:3' }],
    selection: ['packages/app/t.test.ts'],
  });
  const selection = async (command: string): Promise<unknown> =>
    (await coding.testRun({ command, exitCode: 0, framework: 'pytest' })).data['selection'];
  expect(await selection('pytest tests')).toEqual(['packages/app/tests']);
  expect(await selection('pytest')).toEqual(['packages/app']);
  expect(await selection(`cd ${root}/packages/app && pytest ./tests/a.py`)).toEqual(['packages/app/tests/a.py']);
  expect(await selection('cd ../other && pytest')).toBeUndefined();
});

test('coding events are masked as recordings are', async () => {
  await using reprise = await openReprise('memory:');
  const { coding } = await reprise.createSession('masked');
  const { data } = await coding.evidence({
    title: 'env',
    content: 'OPENAI_API_KEY=sk-proj-abcDEF1234567890abcDEF1234',
  });
  expect(JSON.stringify(data)).not.toContain('sk-proj-abc');
  expect(data['masked']).toBeDefined();
});
