import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { given, type JsonObject, stringAt } from '../core/json.ts';
import { release } from './release.ts';

const gitTimeoutMs = 2_000;
const gitOutputBytesMax = 64 * 1024 * 1024;
const configNames = ['reprise.config.ts', 'reprise.config.mts', 'reprise.config.js', 'reprise.config.mjs'];

let known: Promise<JsonObject> | undefined;

/** Returns facts about the running program, gathered once per process, so that git is asked only once. */
export function runFacts(): Promise<JsonObject> {
  known ??= gatherFacts(process.cwd());
  return known;
}

/** Gathers the program, its versions, the state of its working tree, and a digest of its configuration. */
export async function gatherFacts(directory: string): Promise<JsonObject> {
  const git = await gitFacts(directory);
  const configDigest = configDigestAt(directory);
  const [command = 'node', ...rest] = process.argv;
  return {
    program: { command, arguments: rest, cwd: directory },
    versions: { node: process.versions.node, reprise: release() },
    ...given({ git, configDigest }),
  };
}

/**
 * Returns `{ branch, sha, dirty }` of the working tree around a directory; undefined without a working tree, a commit
 * or git. A detached head has no branch.
 */
export async function gitFacts(
  directory: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<JsonObject | undefined> {
  const git = async (...words: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('git', ['-C', directory, ...words], {
      timeout: gitTimeoutMs,
      maxBuffer: gitOutputBytesMax,
      // Reading must not take the lock that a git command of the user may be waiting for.
      env: { ...env, GIT_OPTIONAL_LOCKS: '0' },
    });
    return stdout.trim();
  };
  try {
    const [sha, branch, changes] = await Promise.all([
      git('rev-parse', 'HEAD'),
      git('rev-parse', '--abbrev-ref', 'HEAD'),
      git('status', '--porcelain'),
    ]);
    return { ...(branch === 'HEAD' ? {} : { branch }), sha, dirty: changes !== '' };
  } catch {
    return undefined;
  }
}

/** Returns the SHA-256 of the nearest `reprise.config.*` on the way up to the root of the git repository. */
export function configDigestAt(from: string): string | undefined {
  for (let directory = from; ; directory = dirname(directory)) {
    const path = configNames.map((name) => join(directory, name)).find((each) => existsSync(each));
    if (path !== undefined) return createHash('sha256').update(readFileSync(path)).digest('hex');
    if (existsSync(join(directory, '.git')) || dirname(directory) === directory) return undefined;
  }
}

// Bun lacks it, and refuses a program that imports it by name.
const { findPackageJSON }: Partial<typeof nodeModule> = nodeModule;

const versions = new Map<string, string | undefined>();

/** Returns the version of a package as the adapters import it; undefined if it is not installed. */
export function versionOf(packageName: string): string | undefined {
  if (!versions.has(packageName)) versions.set(packageName, readVersion(packageName));
  return versions.get(packageName);
}

function readVersion(packageName: string): string | undefined {
  try {
    const path = findPackageJSON?.(packageName, import.meta.url);
    return path === undefined ? undefined : stringAt(JSON.parse(readFileSync(path, 'utf8')), 'version');
  } catch {
    return undefined;
  }
}
