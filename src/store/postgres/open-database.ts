import { RepriseError } from '../../core/error.ts';
import { type Host, parseAddress } from './address.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { Database, pause } from './database.ts';
import type { Driver } from './driver.ts';
import { Hosts } from './hosts.ts';
import { checkOldest, latestVersion, type Migration, migrate, schemaState } from './migrate.ts';
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

/** What was opened, and what it turned out to be. */
export interface OpenedDatabase {
  readonly database: Database;
  /** A connection beside the pool, for listening. */
  readonly connect: (onMessage: (message: string) => void) => Promise<Connection>;
  /** Where it is, without the password. */
  readonly location: string;
  readonly schema: string;
}

/** Connects to the host that is wanted. */
type Connect = (more: Partial<ConnectionOptions>) => Promise<Connection>;

/** How much longer than the server's own limit a silent network is waited for, at most. */
const silenceMsMax = 5_000;
/** How long a change of schema may take that holds up nobody, such as an index of a large table. */
const migrationMs = 86_400_000;
/** A writer that froze in the middle of a transaction holds up others no longer than this. */
const idleTransactionMs = 5_000;

/**
 * Every statement finds its few rows through an index that was made for it. A plan that was made while the tables were
 * empty, and kept, would go through all of them later.
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

/** Connects, makes or migrates the store where that is wanted, and gives a pool of connections. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const { url, hosts, target, isEncrypted, schema, location } = parseAddress(options.url);
  const driver = await loadDriver();
  const settings: Record<string, string> = {
    search_path: `"${schema}"`,
    statement_timeout: String(options.statementTimeoutMs),
    lock_timeout: String(Math.max(1, Math.min(options.busyWaitMs, options.statementTimeoutMs))),
    idle_in_transaction_session_timeout: String(idleTransactionMs),
    // Whoever has waited for a lock must see in the next statement what the other has written.
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
  // Whoever names several hosts and wants to write wants the one that can be written to.
  const wanted = target ?? (hosts.length > 1 && !isReadOnly ? 'read-write' : 'any');
  const servers = new Hosts({ hosts, target: wanted, isReadOnly });
  const connect: Connect = (more) => servers.connect((host: Host) => new Connection({ ...connection, ...more, host }));
  const isLoose = await untilUp(busyWaitMs, () => setUp(connect, schema, location, options)).catch((error: unknown) => {
    throw whileOpening(error, location);
  });
  // A server whose own setting would lose what was acknowledged is told otherwise.
  const held = isLoose ? { settings: { ...settings, synchronous_commit: 'on' } } : {};
  return {
    database: new Database({
      connect: () => connect(held),
      connectionsMax,
      waitMs: busyWaitMs,
      schemaKnown: connection.schemaKnown,
    }),
    connect: (onMessage) => connect({ ...held, onMessage }),
    location,
    schema,
  };
}

/** Looks at the store and migrates it; tells whether the server itself does not wait for the disk. */
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
    const [commit] = (await connection.get<[string]>(`SELECT current_setting('synchronous_commit')`)) as [string];
    return durability !== 'process' && commit === 'off';
  } finally {
    await connection.close();
  }
}

/** Migrates on a connection of its own: it may take long, and the plans that suit appends do not suit it. */
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

/** A server that is just starting, or has no connection left at the moment, or one that will be promoted, is worth a wait. */
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
      hint: 'Install it beside Reprise: npm install postgres',
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

/** A user who cannot even see which schema it is cannot be told by the doctor what else is missing. */
async function mayNotLook(cause: unknown, connection: Connection, schema: string): Promise<RepriseError> {
  const [user] = (await connection.get<[string]>('SELECT quote_ident(current_user)')) as [string];
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

/** A schema that the user may not use is, to PostgreSQL, none that was chosen to make tables in. */
const isRefusal = (code: string | undefined): boolean => code === '42501' || code === '3F000';

/** Tables are made in a schema that is the user's own, and a schema by whoever may in the database. */
async function mayNotMake(cause: unknown, connection: Connection, schema: string): Promise<RepriseError> {
  const [user, isThere] = (await connection.get<[string, boolean]>(
    'SELECT quote_ident(current_user), EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)',
    schema,
  )) as [string, boolean];
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
