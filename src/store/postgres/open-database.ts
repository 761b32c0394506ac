import { RepriseError } from '../../core/error.ts';
import { type Host, parseAddress } from './address.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { Database, pause } from './database.ts';
import type { Driver } from './driver.ts';
import { Hosts } from './hosts.ts';
import { checkOldest, latestVersion, type Migration, migrate, schemaState } from './migrate.ts';
import { checkOwnSchema } from './own-schema.ts';
import { noHostCode, postgresCode, whileOpening } from './postgres-error.ts';

interface OpenDatabaseOptions {
  readonly url: string;
  readonly durability?: 'disk' | 'process';
  readonly readOnly?: boolean;
  readonly create?: boolean;
  readonly busyWaitMs: number;
  readonly connectionsMax: number;
  readonly connectWaitMs: number;
  readonly statementTimeoutMs: number;
  readonly migrations: readonly Migration[];
}

/** An open database, and where it is. */
export interface OpenedDatabase {
  readonly database: Database;
  /** Opens a connection outside the pool, for listening. */
  readonly connect: (onMessage: (message: string) => void) => Promise<Connection>;
  /** Its address, without the password. */
  readonly location: string;
  readonly schema: string;
}

/** Connects to the wanted host. */
type Connect = (more: Partial<ConnectionOptions>) => Promise<Connection>;

/** How much longer than the server's own limit to wait for a silent network, at most. */
const silenceMsMax = 5_000;
/** How long a schema change may take that blocks no one, such as an index of a large table. */
const migrationMs = 86_400_000;
/** How long a writer that froze in the middle of a transaction may block others. */
const idleTransactionMs = 5_000;

/**
 * Makes every statement use the index that was made for it. A plan that the server made while the tables were empty, and
 * kept, would later go through whole tables.
 */
const indexed: Readonly<Record<string, string>> = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_sort: 'off',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/** Connects, creates or migrates the store if needed, and returns a pool of connections. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const { url, hosts, target, isEncrypted, schema, location } = parseAddress(options.url);
  const driver = await loadDriver();
  const settings: Record<string, string> = {
    search_path: `"${schema}"`,
    statement_timeout: String(options.statementTimeoutMs),
    lock_timeout: String(Math.max(1, Math.min(options.busyWaitMs, options.statementTimeoutMs))),
    idle_in_transaction_session_timeout: String(idleTransactionMs),
    // A writer that has waited for a lock must see the other's rows in its next statement.
    default_transaction_isolation: 'read committed',
    ...indexed,
    ...(options.durability === 'process' ? { synchronous_commit: 'off' } : {}),
    ...(options.readOnly ? { default_transaction_read_only: 'on' } : {}),
  };
  const { statementTimeoutMs, connectionsMax, busyWaitMs } = options;
  const isReadOnly = options.readOnly === true;
  const connectWaitMs = options.connectWaitMs / hosts.length;
  const connection: Omit<ConnectionOptions, 'host'> = {
    url,
    isEncrypted,
    driver,
    connectWaitMs,
    answerWaitMs: Math.max(statementTimeoutMs, connectWaitMs) + Math.min(statementTimeoutMs, silenceMsMax),
    settings,
    schemaKnown: latestVersion(options.migrations),
  };
  // A writer with several hosts needs the one that takes writes.
  const wanted = target ?? (hosts.length > 1 && !isReadOnly ? 'read-write' : 'any');
  const servers = new Hosts({ hosts, target: wanted, isReadOnly });
  const connect: Connect = (more) => servers.connect((host: Host) => new Connection({ ...connection, ...more, host }));
  const isLoose = await untilUp(busyWaitMs, () => setUp(connect, schema, location, options)).catch((error: unknown) => {
    throw whileOpening(error, location);
  });
  // Overrides a server setting that would lose acknowledged appends.
  const held = isLoose ? { settings: { ...settings, synchronous_commit: 'on' } } : {};
  const connectOwn: Connect = async (more) => {
    const connection = await connect(more);
    try {
      await checkOwnSchema(connection, schema);
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  };
  return {
    database: new Database({
      connect: () => connectOwn(held),
      connectionsMax,
      waitMs: busyWaitMs,
      schemaKnown: connection.schemaKnown,
    }),
    connect: (onMessage) => connectOwn({ ...held, onMessage }),
    location,
    schema,
  };
}

/** Checks the store and migrates it; returns whether the server's own setting does not wait for the disk. */
async function setUp(
  connect: Connect,
  schema: string,
  location: string,
  { migrations, readOnly, create, durability, busyWaitMs }: OpenDatabaseOptions,
): Promise<boolean> {
  const connection = await connect({});
  try {
    const { version, oldest } = await schemaState(connection, schema).catch(async (error: unknown) => {
      throw postgresCode(error) === '42501' ? await mayNotLook(error, connection, schema) : error;
    });
    checkOldest(oldest, latestVersion(migrations));
    if (version === 0 && (readOnly || create === false)) throw notFound(location, schema);
    if (version < latestVersion(migrations)) {
      if (readOnly) throw olderAndReadOnly(version);
      await migrateAside(connect, schema, migrations, busyWaitMs).catch(async (error: unknown) => {
        if (!isRefusal(postgresCode(error))) throw error;
        throw version === 0
          ? await mayNotMake(error, connection, schema)
          : mayNotMigrate(error, version, latestVersion(migrations));
      });
    }
    await checkOwnSchema(connection, schema);
    const [commit] = await connection.one<[string]>(`SELECT current_setting('synchronous_commit')`);
    return durability !== 'process' && commit === 'off';
  } finally {
    await connection.close();
  }
}

/** Migrates on a separate connection: it may take long, and needs other plans than appends. */
async function migrateAside(
  connect: Connect,
  schema: string,
  migrations: readonly Migration[],
  waitMs: number,
): Promise<void> {
  const settings = { search_path: `"${schema}"`, statement_timeout: String(migrationMs), lock_timeout: '0' };
  const connection = await connect({ settings, answerWaitMs: migrationMs + silenceMsMax });
  try {
    await migrate(connection, schema, migrations, waitMs);
  } finally {
    await connection.close();
  }
}

const worthWaiting: ReadonlySet<string> = new Set(['57P03', '53300', '40P01', '55P03', noHostCode]);

/** Retries while the server is starting, has no free connection, or may still be promoted. */
async function untilUp<Result>(waitMs: number, work: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + waitMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const code = postgresCode(error);
      if (code === undefined || !worthWaiting.has(code) || performance.now() >= deadline) throw error;
      await pause(attempt);
    }
  }
}

async function loadDriver(): Promise<Driver> {
  try {
    return (await import('postgres')).default as unknown as Driver;
  } catch (error) {
    throw new RepriseError('store.unsupported', 'Cannot open a PostgreSQL store: the package "postgres" is not there', {
      hint: 'Install it next to Reprise: npm install postgres',
      cause: error,
    });
  }
}

function notFound(location: string, schema: string): RepriseError {
  return new RepriseError('store.not-found', `Cannot open the store at "${location}": it has no schema "${schema}"`, {
    hint: 'Check the URL, or let the store be created: "reprise doctor --create" makes an empty one.',
    details: { location, schema },
  });
}

/** The error for a user who may not read the schema: not even "reprise doctor" can then say what else is missing. */
async function mayNotLook(cause: unknown, connection: Connection, schema: string): Promise<RepriseError> {
  const [user] = await connection.one<[string]>('SELECT quote_ident(current_user)');
  return new RepriseError(
    'store.denied',
    `Cannot use the store: the user ${user} may not read the schema "${schema}"`,
    {
      hint: `Let the owner type: GRANT USAGE ON SCHEMA ${schema} TO ${user}; GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${user}; then "reprise doctor" tells what else is missing.`,
      details: { postgres: '42501', user, schema },
      cause,
    },
  );
}

/** Returns true if a code means a missing right. For a schema that the user may not use, PostgreSQL reports no schema. */
const isRefusal = (code: string | undefined): boolean => code === '42501' || code === '3F000';

/** The error for a user who may not create the tables, or not even the schema. */
async function mayNotMake(cause: unknown, connection: Connection, schema: string): Promise<RepriseError> {
  const [user, isThere] = await connection.one<[string, boolean]>(
    'SELECT quote_ident(current_user), EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)',
    schema,
  );
  const hint = isThere
    ? `Let the owner of the schema make it: reprise doctor --create --store postgres://OWNER@HOST/DATABASE`
    : `Let an administrator make the schema, and try again: CREATE SCHEMA ${schema} AUTHORIZATION ${user};`;
  const what = isThere ? `tables in the schema "${schema}"` : `the schema "${schema}"`;
  return new RepriseError('store.denied', `Cannot use the store: the user ${user} may not make ${what}`, {
    hint,
    details: { schema: 0, postgres: '42501' },
    cause,
  });
}

function mayNotMigrate(cause: unknown, version: number, latest: number): RepriseError {
  const what = `migrate the store from schema ${version} to ${latest}`;
  return new RepriseError('store.denied', `Cannot ${what}: the user has no right to do this`, {
    hint: 'Let the owner open it once with this release: reprise doctor --store postgres://OWNER@HOST/DATABASE',
    details: { schema: version, latest, postgres: '42501' },
    cause,
  });
}

function olderAndReadOnly(version: number): RepriseError {
  return new RepriseError(
    'store.read-only',
    `Cannot open the store for reading only: its schema is version ${version} and must be migrated first`,
    { hint: 'Open it once for writing with this release.' },
  );
}
