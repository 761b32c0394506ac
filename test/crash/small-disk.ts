import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small file system of its own, in memory. */
export interface SmallDisk extends Disposable {
  readonly path: string;
  /** Makes it impossible to write, or possible again. */
  readonly remount: (mode: 'ro' | 'rw') => void;
}

/** Mounts a small disk; a text that says why if the machine does not allow it. */
export function mountSmallDisk(bytes: number): SmallDisk | string {
  const path = mkdtempSync(join(tmpdir(), 'reprise-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { encoding: 'utf8' });
  if (mounted.status !== 0) {
    rmSync(path, { recursive: true, force: true });
    return `mounting a tmpfs is not possible here: ${mounted.error?.message ?? mounted.stderr.trim()}`;
  }
  const run = (command: string, ...more: string[]): void => {
    const { status, stderr } = spawnSync(command, [...more, path], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${more.join(' ')}: ${stderr}`);
  };
  return {
    path,
    remount: (mode) => run('mount', '-o', `remount,${mode}`),
    [Symbol.dispose]: () => {
      run('umount');
      rmSync(path, { recursive: true, force: true });
    },
  };
}
