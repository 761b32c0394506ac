import { RepriseError } from '../../core/error.ts';
import type { Connection } from './connection.ts';
import { pause } from './database.ts';
import { postgresCode } from './postgres-error.ts';

/**
 * One change of a schema. `brief` is one transaction that needs its locks for a moment only: a column or a table more, a
 * constraint that is not checked yet. `aside` are statements outside of a transaction that hold up nobody, such as
 * `CREATE INDEX CONCURRENTLY`; all of them run again after a failure, so they begin with what takes a half-made thing
 * away. `batches` is one statement that changes at most `$1` rows, run until it finds fewer:
 * programs of the release before may go on adding some.
 */
export type Change =
  | { readonly kind: 'brief'; readonly sql: string }
  | { readonly kind: 'aside'; readonly sql: readonly string[] }
  | { readonly kind: 'batches'; readonly sql: string; readonly rows: number };

/** The change of schema that a release made. */
export interface Migration {
  readonly release: string;
  /** The schema's version after it. */
  readonly version: number;
  /**
   * The oldest version whose programs may go on with the store while it is migrated and afterwards: what lets machines be
   * updated one after the other. Left out, only programs that know this very version may.
   */
  readonly oldest?: number;
  readonly changes: readonly Change[];
}

/** Which schema a store has. */
export interface SchemaState {
  /** The last version that was reached; 0 if there is no store. */
  readonly version: number;
  /** What a program must know at least to use the store. */
  readonly oldest: number;
  /** A migration that was begun and has not come to its end. */
  readonly unfinished?: { readonly version: number; readonly release: string; readonly done: number };
}

/** What a program must know at least to use the store, as an expression. */
export const oldestSql = '(SELECT max(coalesce(oldest, version)) FROM schema_changes)';

/** How long a change waits for a lock: whoever comes later waits behind it. */
const lockWaitMs = 100;
/** How long a brief change may take once it has its locks. */
const briefMs = 5_000;

/**
 * The schema of the store. It is asked for by the schema's name: a session that began before the schema was made may still
 * have the path without it.
 */
export async function schemaState(connection: Connection, schema: string): Promise<SchemaState> {
  const found = await connection.get(
    `SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'schema_changes'`,
    schema,
  );
  if (found === undefined) return { version: 0, oldest: 0 };
  const rows = await connection.all<[number, number, string, number, boolean]>(
    `SELECT version, coalesce(oldest, version), release, done, at IS NOT NULL FROM "${schema}".schema_changes ORDER BY version`,
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

/** The version these migrations lead to. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/** Throws `store.newer` for a schema that a program must know more for than this one does. */
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
 * Brings a store to the latest schema; does nothing if it is there already. One process does it at a time; whoever else
 * opens the store waits, and then finds it done. What was made is written down change by change: a migration that was cut
 * short is gone on with.
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
  const work: Work = { connection, schema, waitMs };
  for (const migration of migrations) {
    if (migration.version <= version) continue;
    await make(work, migration, unfinished?.version === migration.version ? unfinished.done : undefined);
  }
}

/** What a migration works with. */
interface Work {
  readonly connection: Connection;
  readonly schema: string;
  readonly waitMs: number;
}

/**
 * Waits for whoever else migrates, by asking again and again: a statement that waits would be a transaction that
 * `CREATE INDEX CONCURRENTLY` waits for in turn. The lock is the connection's, and ends with it. It is led by a number of
 * our own, so that it is not another program's.
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
        `Cannot open the store: another process has been migrating it for ${waitMs} ms`,
        {
          hint: 'Wait for it to end: "reprise doctor" tells how far it is. Programs of the release before may go on meanwhile.',
          details: { waitMs },
        },
      );
    await pause(attempt);
  }
}

/** Makes the changes of one migration that have not been made yet; `done` is undefined if it has not been begun. */
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

/** Writes down how far a migration is. A release before it that may not go on is kept out from its beginning. */
async function note(
  connection: Connection,
  { version, release, oldest, changes }: Migration,
  done: number,
): Promise<void> {
  await connection.run(
    `INSERT INTO schema_changes (version, release, oldest, done, at) VALUES ($1, $2, $3, $4, CASE WHEN $5 THEN now() END)
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
 * Runs a transaction that gives up soon where it must wait for a lock, since whoever comes after it waits behind it, and
 * tries again until the wait ends.
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
  // Asking for it when it is there needs a right that a careful operator does not give.
  const found = await connection.get('SELECT 1 FROM pg_namespace WHERE nspname = $1', schema);
  if (found === undefined) await connection.exec(`CREATE SCHEMA "${schema}"`);
  await connection.exec(schemaChanges);
}

/** What was done to the schema, written by every migration. */
const schemaChanges = `
CREATE TABLE schema_changes (
  version integer PRIMARY KEY,
  release text NOT NULL,
  oldest integer, -- the oldest version whose programs may go on; null for the version itself
  done integer NOT NULL DEFAULT 0, -- how many of its changes were made
  at timestamptz DEFAULT now() -- null until all were made
)`;
