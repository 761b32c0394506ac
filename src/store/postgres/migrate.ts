import { RepriseError } from '../../core/error.ts';
import type { Connection } from './connection.ts';

/** The change of schema that a release made. */
export interface Migration {
  readonly release: string;
  /** The schema's version after it. */
  readonly version: number;
  readonly up: (connection: Connection) => Promise<void>;
}

/**
 * The schema version of the store in a schema; 0 if there is none. It is asked for by the schema's name: a session that
 * began before the schema was made may still have the path without it.
 */
export async function schemaVersion(connection: Connection, schema: string): Promise<number> {
  const found = await connection.get(
    `SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'schema_changes'`,
    schema,
  );
  if (found === undefined) return 0;
  const row = await connection.get<[number]>(`SELECT coalesce(max(version), 0)::int FROM "${schema}".schema_changes`);
  return row?.[0] ?? 0;
}

/** The version these migrations lead to. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/** Throws `store.newer` for a schema that this release does not know. */
export function checkVersion(version: number, migrations: readonly Migration[]): void {
  const latest = latestVersion(migrations);
  if (version <= latest) return;
  throw new RepriseError(
    'store.newer',
    `Cannot use the store: its schema is version ${version}, this release knows up to ${latest}`,
    {
      hint: 'Install the newer release of Reprise that wrote it; nothing was changed.',
      details: { schema: version, known: latest },
    },
  );
}

// Led by a number of our own, so that the lock is not another program's.
const lockSql = `SELECT pg_advisory_xact_lock(1382051443, hashtext($1))`;

/**
 * Brings a store to the latest schema, in one transaction; does nothing if it is there already. Whoever else opens the
 * store meanwhile waits for the same lock, and then finds it done.
 */
export async function migrate(connection: Connection, schema: string, migrations: readonly Migration[]): Promise<void> {
  await connection.transaction(async () => {
    await connection.run(lockSql, schema);
    const version = await schemaVersion(connection, schema);
    checkVersion(version, migrations);
    if (version === latestVersion(migrations)) return;
    if (version === 0) await begin(connection, schema);
    for (const migration of migrations) {
      if (migration.version <= version) continue;
      await migration.up(connection);
      await connection.run(
        'INSERT INTO schema_changes (version, release) VALUES ($1, $2)',
        migration.version,
        migration.release,
      );
    }
  });
}

async function begin(connection: Connection, schema: string): Promise<void> {
  // Asking for it when it is there needs a right that a careful operator does not give.
  const found = await connection.get('SELECT 1 FROM pg_namespace WHERE nspname = $1', schema);
  if (found === undefined) await connection.exec(`CREATE SCHEMA "${schema}"`);
  await connection.exec(
    'CREATE TABLE schema_changes (version integer PRIMARY KEY, release text NOT NULL, at timestamptz NOT NULL DEFAULT now())',
  );
}
