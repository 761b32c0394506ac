import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { Project } from '../core/coding/project-path.ts';

/** Returns the project around a folder: the nearest folder with a `.git`; undefined if there is none. */
export function projectAround(folder: string = process.cwd()): Project | undefined {
  const from = realpathSync(folder);
  for (let root = from; ; root = dirname(root)) {
    if (existsSync(join(root, '.git'))) return { root: slashed(root), folder: slashed(relative(root, from)) };
    if (dirname(root) === root) return undefined;
  }
}

const slashed = (path: string): string => path.replaceAll(sep, '/');
