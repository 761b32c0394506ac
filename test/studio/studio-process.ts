/** Programs that the tests of the studio start: the demo, and the studio itself. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../src/cli/bin.ts', import.meta.url));
const env = { ...process.env, REPRISE_MASK_KEY: 'a key for tests, which everyone may know' };

/** A folder of its own, which is removed in the end. */
export class Folder {
  readonly path: string = mkdtempSync(join(tmpdir(), 'reprise-studio-'));

  /** The store that commands here use. */
  get store(): string {
    return `sqlite:${join(this.path, '.reprise/reprise.db')}`;
  }

  /** Runs a command of Reprise here, and returns what it prints. */
  run(...words: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...words], {
      cwd: this.path,
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`reprise ${words.join(' ')} failed: ${stderr}`);
    return stdout;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A studio that runs. */
export interface RunningStudio {
  readonly origin: string;
  /** With the token behind the `#`. */
  readonly url: (path: string) => string;
  readonly token: string;
  readonly stop: () => Promise<void>;
}

/** Starts `reprise studio` in a folder, and waits until it says where it is. */
export async function startStudio({ path }: Pick<Folder, 'path'>, ...words: readonly string[]): Promise<RunningStudio> {
  const child = spawn(process.execPath, [cli, 'studio', '--no-open', '--json', ...words], {
    cwd: path,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const address = new URL(await addressOf(child));
  return {
    origin: address.origin,
    url: (place) => `${address.origin}${place}${address.hash}`,
    token: address.hash.replace(/^#(?:token=)?/, ''),
    stop: () => ended(child),
  };
}

async function addressOf(child: ChildProcess): Promise<string> {
  let said = '';
  for await (const text of child.stdout ?? []) {
    said += String(text);
    const [, url] = /"url":\s*"([^"]+)"/.exec(said) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`reprise studio ended before it said where it is: ${said}`);
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** Starts `reprise serve` in a folder. A token is made there first, and the address does not hold it. */
export async function startServer(
  { path }: Pick<Folder, 'path'>,
  ...words: readonly string[]
): Promise<Pick<RunningStudio, 'origin' | 'stop'>> {
  const child = spawn(process.execPath, [cli, 'serve', '--json', ...words], {
    cwd: path,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return { origin: new URL(await addressOf(child)).origin, stop: () => ended(child) };
}
