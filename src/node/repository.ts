import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Returns the root of the git repository that a folder is in; undefined if it is in none. */
export function repositoryRoot(from: string): string | undefined {
  for (let directory = resolve(from); ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory;
    if (dirname(directory) === directory) return undefined;
  }
}

/**
 * Returns the folders that may contain the files of a project, nearest first: up to the root of the repository, and
 * without a repository only the folder itself. A file above a project does not belong to it.
 */
export function projectFolders(from: string): string[] {
  const first = resolve(from);
  const root = repositoryRoot(first);
  const folders = [first];
  if (root === undefined) return folders;
  for (let folder = first; folder !== root; ) {
    folder = dirname(folder);
    folders.push(folder);
  }
  return folders;
}
