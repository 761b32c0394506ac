import { RepriseError } from '../../core/error.ts';
import type { Connection } from './connection.ts';

/** The change of schema that a release made. */
export interface Migration {
  readonly release: string;
  /** The schema's version after it. */
  readonly version: number;
  readonly up: (connection: Connection) => Promise<void>;
}

/** The schema version of the store in a connection's schema; 0 if there is none. */
export async function schemaVersion(connection: Connection): Promise<number> {
  const [found] = (await connection.get<[boolean]>(`SELECT to_regclass('schema_changes') IS NOT NULL`)) as [boolean];
  if (!found) return 0;
  const row = await connection.get<[number]>('SELECT coalesce(max(version), 0)::int FROM schema_changes');
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
    const version = await schemaVersion(connection);
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
  const [found] = (await connection.get<[boolean]>('SELECT to_regnamespace($1) IS NOT NULL', `"${schema}"`)) as [
    boolean,
  ];
  if (!found) await connection.exec(`CREATE SCHEMA "${schema}"`);
  await connection.exec(
    'CREATE TABLE schema_changes (version integer PRIMARY KEY, release text NOT NULL, at timestamptz NOT NULL DEFAULT now())',
  );
}
