import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type ErrorCode, messageOf, RepriseError } from '../../core/error.ts';
import { propertyOf } from '../../core/property.ts';
import { mayWriteIn } from './file-rights.ts';

/** The file of a store as it is on the disk, before it is opened. */
export type StoreFile = 'missing' | 'empty' | 'filled';

/**
 * Looks at the file of a store without opening it. Refuses everything but a regular file: to open a FIFO would wait
 * forever for its other end.
 */
export function storeFileAt(path: string): StoreFile {
  const held = statusOf(path);
  if (held === undefined) return 'missing';
  if (!held.isFile()) throw notAFile(path, held);
  // A database whose first commit is still in its log is empty too.
  return held.size > 0 || logBytes(path) > 0 ? 'filled' : 'empty';
}

function statusOf(path: string): Stats | undefined {
  try {
    const held = statSync(path, { throwIfNoEntry: false });
    if (held?.isFile() === true) accessSync(path, constants.R_OK);
    return held;
  } catch (error) {
    throw new RepriseError('store.denied', `Cannot open the store ${JSON.stringify(path)}: ${messageOf(error)}`, {
      hint: 'Give this user the right to read the file, and to look into the directories on the way to it.',
      details: { path },
      cause: error,
    });
  }
}

/** Returns the size of the log next to a store. */
export function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function notAFile(path: string, held: Stats): RepriseError {
  const what = held.isDirectory() ? 'a directory' : held.isFIFO() ? 'a FIFO' : 'not a regular file';
  return new RepriseError('store.unsupported', `Cannot open the store ${JSON.stringify(path)}: it is ${what}`, {
    hint: 'Name a file: sqlite:PATH.',
    details: { path },
  });
}

/**
 * Makes the empty file of a new store, and its directory. Only its user can read it, whatever the umask says, and SQLite
 * gives the log next to it the same rights. git does not take it.
 */
export function makeStoreFile(path: string): void {
  const directory = dirname(path);
  makeDirectory(directory);
  if (!mayWriteIn(directory)) throw directoryReadOnly(directory);
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // A different process may have been faster.
    if (propertyOf(error, 'code') !== 'EEXIST') throw unmade(`the store ${JSON.stringify(path)}`, directory, error);
  }
  keepOutOfGit(path);
}

/** Writes a `.gitignore` next to a store, unless there is one or it could be of no use. */
function keepOutOfGit(path: string): void {
  const directory = dirname(path);
  const isOurs = basename(directory) === '.reprise';
  if (!isOurs && !isInRepository(directory)) return;
  const name = basename(path).replace(/[\\*?[\]!# ]/g, String.raw`\$&`);
  const text = isOurs ? '*\n!.gitignore\n!settings.json\n' : `/${name}\n/${name}-*\n`;
  try {
    writeFileSync(join(directory, '.gitignore'), text, { flag: 'wx' });
  } catch {
    // One that is there belongs to its author, and a store is usable without one.
  }
}

function isInRepository(directory: string): boolean {
  if (existsSync(join(directory, '.git'))) return true;
  return dirname(directory) !== directory && isInRepository(dirname(directory));
}

const directoryErrors: Readonly<Record<string, ErrorCode>> = {
  EACCES: 'store.read-only',
  EPERM: 'store.read-only',
  EROFS: 'store.read-only',
  ENOSPC: 'store.full',
};

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw unmade(`the directory ${JSON.stringify(path)}`, nearest(path), error);
  }
}

function unmade(what: string, directory: string, error: unknown): RepriseError {
  const known = directoryErrors[String(propertyOf(error, 'code'))];
  // On a file system that cannot be written, making several directories at once fails with ENOENT.
  const code = known ?? (mayWriteIn(directory) ? 'store.failed' : 'store.read-only');
  return new RepriseError(code, `Cannot make ${what}: ${messageOf(error)}`, {
    hint: 'Name a directory that may be written.',
    cause: error,
  });
}

/** Returns the nearest directory on the way up that exists. */
function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

function directoryReadOnly(directory: string): RepriseError {
  return new RepriseError('store.read-only', `Cannot make a store in "${directory}": the directory cannot be written`, {
    hint: 'Name a directory that may be written.',
    details: { directory },
  });
}
