import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { configDigestAt, gatherFacts, gitFacts, runFacts } from './run-facts.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-facts-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function git(...words: string[]): string {
  const as = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=trunk'];
  return execFileSync('git', ['-C', directory, ...as, ...words], { encoding: 'utf8' }).trim();
}

function commit(): string {
  git('init', '-q');
  writeFileSync(join(directory, 'a.txt'), 'a');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  return git('rev-parse', 'HEAD');
}

test('gitFacts() of a clean working tree gives its branch and sha, also from a folder inside', async () => {
  const sha = commit();
  mkdirSync(join(directory, 'inside'));
  expect(await gitFacts(join(directory, 'inside'))).toEqual({ branch: 'trunk', sha, dirty: false });
});

test('gitFacts() says that something is not committed, a new file included', async () => {
  const sha = commit();
  writeFileSync(join(directory, 'b.txt'), 'b');
  expect(await gitFacts(directory)).toEqual({ branch: 'trunk', sha, dirty: true });
});

test('gitFacts() of a detached head has no branch', async () => {
  const sha = commit();
  git('checkout', '-q', '--detach');
  expect(await gitFacts(directory)).toEqual({ sha, dirty: false });
});

test('gitFacts() is undefined outside of a repository, before the first commit, and without git', async () => {
  expect(await gitFacts(directory)).toBeUndefined();
  git('init', '-q');
  expect(await gitFacts(directory)).toBeUndefined();
  commit();
  expect(await gitFacts(directory, { ...process.env, PATH: join(directory, 'nowhere') })).toBeUndefined();
});

test('configDigestAt() is that of the nearest configuration, no further up than the repository', () => {
  expect(configDigestAt(directory)).toBeUndefined();
  writeFileSync(join(directory, 'reprise.config.ts'), 'export default {};');
  const inside = join(directory, 'deep', 'inside');
  mkdirSync(inside, { recursive: true });
  expect(configDigestAt(inside)).toBe(createHash('sha256').update('export default {};').digest('hex'));
  mkdirSync(join(directory, 'deep', '.git'));
  expect(configDigestAt(inside)).toBeUndefined();
});

test('gatherFacts() says what was started and the versions of Node and of this package', async () => {
  const facts = await gatherFacts(directory);
  expect(facts).toMatchObject({
    program: { command: process.argv[0], cwd: directory },
    versions: { node: process.versions.node, reprise: expect.stringMatching(/^\d+\.\d+\.\d+/) },
  });
  expect(facts).not.toHaveProperty('git');
});

test('runFacts() is gathered once a process', () => {
  expect(runFacts()).toBe(runFacts());
});
