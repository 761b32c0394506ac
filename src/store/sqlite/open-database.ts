import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type ErrorCode, RepriseError } from '../../core/error.ts';
import { Database } from './database.ts';
import { checkFile, latestVersion, type Migration, migrate } from './migrate.ts';
import { immutableLocation, OpenedFile } from './opened-file.ts';
import { isBusy } from './sqlite-error.ts';
import { pause } from './writer.ts';

interface OpenDatabaseOptions {
  readonly path: string;
  readonly durability?: 'disk' | 'process';
  readonly readOnly?: boolean;
  readonly create?: boolean;
  readonly busyWaitMs: number;
  readonly migrations: readonly Migration[];
}

// Small, since one append touches three pages.
const pageBytes = 4_096;
const mapBytes = 1_073_741_824;
const cacheKib = 16_384;

/** Opens the file, creates or migrates it if needed, and sets the connection up. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const path = resolve(options.path);
  const isReadOnly = options.readOnly === true || (existsSync(path) && !mayWrite(path));
  if (!existsSync(path)) {
    if (isReadOnly || options.create === false) throw notFound(path);
    makeDirectory(dirname(path));
    if (!mayWriteIn(dirname(path))) throw directoryReadOnly(dirname(path));
  }
  const isRestricted = isReadOnly && !mayWriteIn(dirname(path));
  const attempt = async (isImmutable: boolean): Promise<OpenedDatabase> => {
    const location = isImmutable ? immutableLocation(path) : path;
    const database = new Database({ location, readOnly: isReadOnly });
    try {
      await untilFree(options.busyWaitMs, () => setUp(database, options, isReadOnly));
      return { database, isReadOnly, file: new OpenedFile(path, { isImmutable }) };
    } catch (error) {
      database.close();
      throw isRestricted && logBytes(path) > 0 ? logUnreadable(path, error) : error;
    }
  };
  if (!isRestricted) return await attempt(false);
  // Beside a writer its shared memory is there, and a reader that may not create it can use it and follow.
  if (logBytes(path) > 0) return await attempt(false);
  if (!existsSync(`${path}-shm`)) return await attempt(true);
  return await attempt(false).catch(() => attempt(true));
}

/** An open connection, and the file it is to. */
interface OpenedDatabase {
  readonly database: Database;
  readonly isReadOnly: boolean;
  readonly file: OpenedFile;
}

function setUp(database: Database, { migrations, durability }: OpenDatabaseOptions, isReadOnly: boolean): void {
  // Writes nothing before this check: the file must be ours, and of a release we know.
  const version = checkFile(database, migrations);
  database.exec(`PRAGMA mmap_size = ${mapBytes}; PRAGMA cache_size = -${cacheKib}`);
  if (isReadOnly) {
    if (version !== latestVersion(migrations)) throw olderAndReadOnly(version);
    return;
  }
  if (version === 0) database.exec(`PRAGMA page_size = ${pageBytes}`);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec(`PRAGMA synchronous = ${durability === 'process' ? 'NORMAL' : 'FULL'}`);
  // Leaves no copy of erased content in the file, and costs nothing as long as nothing is deleted.
  database.exec('PRAGMA secure_delete = ON');
  migrate(database, migrations);
}

async function untilFree(waitMs: number, work: () => void): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
      await pause(attempt);
    }
  }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return mayWriteIn(dirname(path));
  } catch {
    return false;
  }
}

function mayWriteIn(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function directoryReadOnly(directory: string): RepriseError {
  return new RepriseError('store.read-only', `Cannot make a store in "${directory}": the directory cannot be written`, {
    hint: 'Name a directory that may be written.',
    details: { directory },
  });
}

/** The error for a log that cannot be read: SQLite reads a log only in a directory that it may write. */
function logUnreadable(path: string, cause: unknown): RepriseError {
  return new RepriseError(
    'store.read-only',
    `Cannot read the store "${path}": its last commits are in the log beside it, and the directory cannot be written`,
    {
      hint: 'Copy the file and its -wal to a directory that may be written, and open it there.',
      details: { path },
      cause,
    },
  );
}

function notFound(path: string): RepriseError {
  return new RepriseError('store.not-found', `Cannot open the store "${path}": there is no such file`, {
    hint: 'Check the path, or let it be created.',
    details: { path },
  });
}

function olderAndReadOnly(version: number): RepriseError {
  return new RepriseError(
    'store.read-only',
    `Cannot open the store for reading only: its schema is version ${version} and must be migrated first`,
    {
      hint: 'Open it once for writing with this release.',
    },
  );
}

const directoryErrors: Readonly<Record<string, ErrorCode>> = {
  EACCES: 'store.read-only',
  EPERM: 'store.read-only',
  EROFS: 'store.read-only',
  ENOSPC: 'store.full',
};

/** Returns the nearest directory on the way up that exists. */
function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    const known = directoryErrors[(error as NodeJS.ErrnoException).code ?? ''];
    // On a file system that cannot be written, making several directories at once fails with ENOENT.
    const code = known ?? (mayWriteIn(nearest(path)) ? 'store.failed' : 'store.read-only');
    throw new RepriseError(code, `Cannot make the directory "${path}": ${(error as Error).message}`, {
      hint: 'Name a directory that may be written.',
      cause: error,
    });
  }
}
