import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RepriseError } from '../../core/error.ts';
import { Database } from './database.ts';
import { mayWrite, mayWriteIn } from './file-rights.ts';
import { checkFile, latestVersion, type Migration, migrate } from './migrate.ts';
import { immutableLocation, OpenedFile } from './opened-file.ts';
import { isBusy } from './sqlite-error.ts';
import { logBytes, makeStoreFile, storeFileAt } from './store-file.ts';
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
  const found = storeFileAt(path);
  const isReadOnly = options.readOnly === true || (found !== 'missing' && !mayWrite(path));
  if (found !== 'filled' && (isReadOnly || options.create === false)) throw notFound(path, found);
  if (found === 'missing') makeStoreFile(path);
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
  // While a writer is running, its shared memory is there, and a reader that may not create it can use it and follow.
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

function setUp(database: Database, options: OpenDatabaseOptions, isReadOnly: boolean): void {
  const { migrations, durability } = options;
  // Writes nothing before this check: the file must be ours, and of a release we know.
  const version = checkFile(database, migrations);
  if (version === 0 && options.create === false) throw notFound(resolve(options.path), 'empty');
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

/** The error for a log that cannot be read: SQLite reads a log only in a directory that it may write. */
function logUnreadable(path: string, cause: unknown): RepriseError {
  return new RepriseError(
    'store.read-only',
    `Cannot read the store "${path}": its last commits are in the log next to it, and the directory cannot be written`,
    {
      hint: 'Copy the file and its -wal to a directory that may be written, and open it there.',
      details: { path },
      cause,
    },
  );
}

function notFound(path: string, found: 'missing' | 'empty'): RepriseError {
  const why = found === 'missing' ? 'there is no such file' : 'the file is empty';
  return new RepriseError('store.not-found', `Cannot open the store "${path}": ${why}`, {
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
