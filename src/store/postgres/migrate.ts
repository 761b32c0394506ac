import { RepriseError } from '../../core/error.ts';
import { unreleasedStore } from '../sql/unreleased-store.ts';
import type { Connection } from './connection.ts';
import { pause } from './database.ts';
import { checkOwnSchema } from './own-schema.ts';
import { postgresCode } from './postgres-error.ts';

/**
 * One change of a schema. `brief` is one transaction that keeps its locks for a moment only: a new column or table, a
 * constraint that is not checked yet. `aside` are statements outside a transaction that block no one, such as
 * `CREATE INDEX CONCURRENTLY`; all of them run again after a failure, so the first removes what is half made. `batches`
 * is one statement that changes at most `$1` rows, run until it finds fewer: programs of the release before may add some.
 */
type Change =
  | { readonly kind: 'brief'; readonly sql: string }
  | { readonly kind: 'aside'; readonly sql: readonly string[] }
  | { readonly kind: 'batches'; readonly sql: string; readonly rows: number };

/** The schema change of one release. */
export interface Migration {
  readonly release: string;
  /** The schema's version after it. */
  readonly version: number;
  /**
   * The oldest version whose programs may use the store during the migration and after it, so that machines can be updated
   * one by one. If left out, only programs that know this version may.
   */
  readonly oldest?: number;
  readonly changes: readonly Change[];
}

/** The schema of a store. */
export interface SchemaState {
  /** The last complete version; 0 if there is no store. */
  readonly version: number;
  /** The least version that a program must know to use the store. */
  readonly oldest: number;
  /** A migration that has started and not ended. */
  readonly unfinished?: { readonly version: number; readonly release: string; readonly done: number };
}

/** The least version that a program must know to use the store, as SQL. */
export const oldestSql = '(SELECT max(coalesce(oldest, version)) FROM schema_versions)';

/** The table in which a store that was written before the first release kept its changes. */
const unreleasedTable = 'schema_changes';

/** How long a change waits for a lock: later writers queue behind it. */
const lockWaitMs = 100;
/** How long a brief change may take once it has its locks. */
const briefMs = 5_000;

/**
 * Returns the schema of the store. Asks by the schema's name, since a session that started before the schema was created
 * may have a search path without it.
 */
export async function schemaState(connection: Connection, schema: string): Promise<SchemaState> {
  const tables = await connection.all<[string]>(
    `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname IN ('schema_versions', $2)`,
    schema,
    unreleasedTable,
  );
  const names = tables.map(([name]) => name);
  if (names.includes(unreleasedTable)) throw unreleasedStore();
  if (names.length === 0) return { version: 0, oldest: 0 };
  const rows = await connection.all<[number, number, string, number, boolean]>(
    `SELECT version, coalesce(oldest, version), release, done, at IS NOT NULL FROM "${schema}".schema_versions ORDER BY version`,
  );
  const unfinished = rows.find(([, , , , isFinished]) => !isFinished);
  return {
    version: Math.max(0, ...rows.filter((row) => row[4]).map(([version]) => version)),
    oldest: Math.max(0, ...rows.map((row) => row[1])),
    ...(unfinished === undefined
      ? {}
      : { unfinished: { version: unfinished[0], release: unfinished[2], done: unfinished[3] } }),
  };
}

/** Returns the version that these migrations lead to. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/** Throws `store.newer` for a schema that needs a newer program. */
export function checkOldest(oldest: number, known: number): void {
  if (oldest <= known) return;
  throw new RepriseError(
    'store.newer',
    `Cannot use the store: its schema is version ${oldest}, this release knows up to ${known}`,
    {
      hint: 'Install the newer release of Reprise that wrote it; nothing was changed.',
      details: { schema: oldest, known },
    },
  );
}

/**
 * Migrates a store to the latest schema, unless it has it already. One process at a time does so; others that open the
 * store wait, and then find it done. The store notes each change, so that the next process continues a migration that
 * was cut short.
 */
export async function migrate(
  connection: Connection,
  schema: string,
  migrations: readonly Migration[],
  waitMs: number,
): Promise<void> {
  await lock(connection, schema, waitMs);
  const { version, oldest, unfinished } = await schemaState(connection, schema);
  checkOldest(oldest, latestVersion(migrations));
  if (version > 0) await checkOwnSchema(connection, schema);
  const work: Work = { connection, schema, waitMs };
  for (const migration of migrations) {
    if (migration.version <= version) continue;
    await make(work, migration, unfinished?.version === migration.version ? unfinished.done : undefined);
  }
}

/** The connection and schema of a migration. */
interface Work {
  readonly connection: Connection;
  readonly schema: string;
  readonly waitMs: number;
}

/**
 * Waits until no other process migrates, by asking repeatedly: a waiting statement would be a transaction that
 * `CREATE INDEX CONCURRENTLY` waits for in turn. The lock belongs to the connection and ends with it. Its first key is a
 * number of our own, so that no other program has the same lock.
 */
async function lock(connection: Connection, schema: string, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (let attempt = 0; ; attempt++) {
    const [isOurs] = (await connection.get<[boolean]>(
      `SELECT pg_try_advisory_lock(1382051443, hashtext($1))`,
      schema,
    )) as [boolean];
    if (isOurs) return;
    if (performance.now() >= deadline)
      throw new RepriseError(
        'store.busy',
        `Cannot open the store: a different process has been migrating it for ${waitMs} ms`,
        {
          hint: 'Wait for it to end: "reprise doctor" tells how far it is. Programs of the release before may continue meanwhile.',
          details: { waitMs },
        },
      );
    await pause(attempt);
  }
}

/** Makes the remaining changes of one migration; `done` is undefined if it has not started. */
async function make(work: Work, migration: Migration, done: number | undefined): Promise<void> {
  const { connection } = work;
  if (done === undefined && migration.changes[0]?.kind !== 'brief')
    await briefly(work, () => note(connection, migration, 0));
  for (const [index, change] of migration.changes.entries()) {
    if (index < (done ?? 0)) continue;
    if (change.kind === 'aside') for (const sql of change.sql) await connection.exec(sql);
    if (change.kind === 'batches') await inBatches(work, change);
    await briefly(work, async () => {
      if (migration.version === 1 && index === 0) await begin(connection, work.schema);
      if (change.kind === 'brief') await connection.exec(change.sql);
      await note(connection, migration, index + 1);
    });
  }
}

/** Notes how far a migration is. From its first note on, it keeps out older releases that may not continue. */
async function note(
  connection: Connection,
  { version, release, oldest, changes }: Migration,
  done: number,
): Promise<void> {
  await connection.run(
    `INSERT INTO schema_versions (version, release, oldest, done, at) VALUES ($1, $2, $3, $4, CASE WHEN $5 THEN now() END)
     ON CONFLICT (version) DO UPDATE SET done = excluded.done, at = excluded.at`,
    version,
    release,
    oldest ?? null,
    done,
    done === changes.length,
  );
}

async function inBatches(work: Work, { sql, rows }: Extract<Change, { kind: 'batches' }>): Promise<void> {
  let changed = rows;
  while (changed >= rows) changed = await briefly(work, () => work.connection.change(sql, rows));
}

/**
 * Runs a transaction that gives up soon if it must wait for a lock, since later writers queue behind it, and retries until
 * the wait ends.
 */
async function briefly<Result>({ connection, waitMs }: Work, work: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + waitMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return await connection.transaction(async () => {
        await connection.exec(`SET LOCAL lock_timeout = ${lockWaitMs}; SET LOCAL statement_timeout = ${briefMs}`);
        return await work();
      });
    } catch (error) {
      const code = postgresCode(error);
      if ((code !== '55P03' && code !== '40P01') || performance.now() >= deadline) throw error;
      await pause(attempt);
    }
  }
}

async function begin(connection: Connection, schema: string): Promise<void> {
  // CREATE SCHEMA IF NOT EXISTS would need a right that a careful operator does not grant.
  const found = await connection.get('SELECT 1 FROM pg_namespace WHERE nspname = $1', schema);
  if (found === undefined) await connection.exec(`CREATE SCHEMA "${schema}"`);
  await checkOwnSchema(connection, schema);
  await connection.exec(schemaVersions);
}

/** The changes made to the schema; every migration adds its own. */
const schemaVersions = `
CREATE TABLE schema_versions (
  version integer PRIMARY KEY,
  release text NOT NULL,
  oldest integer, -- the oldest version whose programs may go on; null for the version itself
  done integer NOT NULL DEFAULT 0, -- how many of its changes were made
  at timestamptz DEFAULT now() -- null until all were made
)`;
