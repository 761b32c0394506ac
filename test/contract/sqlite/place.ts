import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll } from 'vitest';
import type { EventStore } from '../../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../../src/node/platform.ts';
import type { Migration } from '../../../src/store/sqlite/migrate.ts';
import { migrations as ownMigrations } from '../../../src/store/sqlite/schema.ts';
import { openMigratedStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { SqliteStoreOptions } from '../../../src/store/sqlite/store-options.ts';
import type { World } from '../../../src/testing/contract/contract-case.ts';

/** The session every test here works on. */
export const ref = { namespace: 'default', session: 'demo' };

const platform = createNodePlatform();

/** A directory for the tests of one file; gives a new path in it each time. */
export function freshPaths(): () => string {
  let directory = '';
  let count = 0;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'reprise-sqlite-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return () => join(directory, String(++count), 'store.db');
}

/** How a store is opened here, and with which migrations. */
interface PlaceOptions extends Partial<SqliteStoreOptions> {
  readonly migrations?: readonly Migration[];
}

/** Opens a store of this process. */
export async function open(path: string, options: PlaceOptions = {}): Promise<EventStore> {
  const { migrations = ownMigrations, ...rest } = options;
  return await openMigratedStore({ path, platform, ...rest }, migrations);
}

/** Opens a new store with the session and its empty branch `main`. */
export async function openNew(path: string, options: PlaceOptions = {}): Promise<World> {
  const store = await open(path, options);
  await store.createSession(ref, { root: 'main', seed: 'seed' });
  return { store, ref };
}

/** Another process that works on a store. */
export interface Worker {
  readonly lines: readonly string[];
  /** Resolves with the lines it printed when it has ended; rejects with its error output if it failed. */
  readonly ended: Promise<readonly string[]>;
  /** Resolves once it has printed that many lines. */
  readonly printed: (count: number) => Promise<void>;
  /** Ends its input: one that holds a lock lets go of it. */
  readonly letGo: () => void;
  readonly kill: () => void;
}

/** Starts `worker.ts`. */
export function startWorker(...args: readonly string[]): Worker {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'worker.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += String(chunk);
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  const ended = new Promise<readonly string[]>((resolve, reject) => {
    child.on('close', (code, signal) =>
      code === 0 || signal === 'SIGKILL' ? resolve(lines) : reject(new Error(errors)),
    );
  });
  return {
    lines,
    ended,
    printed: (count) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (lines.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        ended.then(look, reject);
        look();
      }),
    letGo: () => child.stdin.end(),
    kill: () => child.kill('SIGKILL'),
  };
}

/** Another process that reads a store and may not write its directory. */
export interface Reader extends AsyncDisposable {
  /** Returns how many events it sees, or the code of its error. */
  readonly look: () => Promise<string>;
}

/** Starts `reader.ts`, as a user without rights to the directory. */
export function startReader(path: string): Reader {
  const directory = dirname(path);
  // Rights do not hold root back, so root starts the reader as nobody; everyone else takes the right away for a while.
  const isRoot = process.getuid?.() === 0;
  for (let above = directory; isRoot && above !== tmpdir(); above = dirname(above)) chmodSync(above, 0o755);
  // A store is made for its user alone; this one is shared.
  for (const end of ['', '-wal', '-shm']) if (isRoot && existsSync(`${path}${end}`)) chmodSync(`${path}${end}`, 0o644);
  const child = spawn(process.execPath, [join(import.meta.dirname, 'reader.ts'), path], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}),
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    look: async () => {
      if (!isRoot) chmodSync(directory, 0o555);
      child.stdin.write('look\n');
      const { value } = await lines.next();
      if (!isRoot) chmodSync(directory, 0o755);
      return String(value);
    },
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.stdin.end();
      await ended;
    },
  };
}
