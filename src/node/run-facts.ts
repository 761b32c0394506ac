import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';
import type { JsonObject } from '../core/json.ts';

const gitTimeoutMs = 2_000;

/** What is known of the program that runs: what was started, its versions, and the state of its working tree. */
export async function runFacts(): Promise<JsonObject> {
  const git = await gitFacts(process.cwd());
  const [command = 'node', ...rest] = process.argv;
  return {
    program: { command, arguments: rest, cwd: process.cwd() },
    versions: { node: process.versions.node },
    ...(git === undefined ? {} : { git }),
  };
}

/** `{ branch, sha, dirty }` of the working tree around a directory; undefined where there is none, or no git. */
export async function gitFacts(directory: string): Promise<JsonObject | undefined> {
  const git = async (...words: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('git', ['-C', directory, ...words], { timeout: gitTimeoutMs });
    return stdout.trim();
  };
  try {
    const sha = await git('rev-parse', 'HEAD');
    const [branch, changes] = [await git('rev-parse', '--abbrev-ref', 'HEAD'), await git('status', '--porcelain')];
    return { branch, sha, dirty: changes !== '' };
  } catch {
    return undefined;
  }
}
