import { RepriseError } from '../../core/error.ts';
import type { Database } from './database.ts';

/** Marks a SQLite file as a Reprise store: "Rprs". */
export const applicationId = 0x52707273;

/** The schema change of one release. */
export interface Migration {
  readonly release: string;
  /** What `PRAGMA user_version` is after it. */
  readonly version: number;
  readonly up: (database: Database) => void;
}

/** The schema version of a file; 0 for an empty one. */
export function schemaVersion(database: Database): number {
  return (database.get<[number]>('PRAGMA user_version') as [number])[0];
}

/** The version these migrations lead to. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/** Throws unless the file is a Reprise store this release can read. Writes nothing; gives its schema version. */
export function checkFile(database: Database, migrations: readonly Migration[]): number {
  const [application] = database.get<[number]>('PRAGMA application_id') as [number];
  const version = schemaVersion(database);
  const [tables] = database.get<[number]>('SELECT count(*) FROM sqlite_schema') as [number];
  if (application === 0 && version === 0 && tables === 0) return 0;
  if (application !== applicationId) {
    throw new RepriseError('store.damaged', 'Cannot open the store: the file is a SQLite database of another program', {
      hint: 'Name another file, or the store that was meant.',
    });
  }
  checkVersion(version, migrations);
  return version;
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

/** Brings a file to the latest schema, in one transaction; does nothing if it is there already. */
export function migrate(database: Database, migrations: readonly Migration[]): void {
  if (checkFile(database, migrations) === latestVersion(migrations)) return;
  database.transaction(() => {
    // Another process may have migrated between the look and the lock.
    const version = checkFile(database, migrations);
    for (const migration of migrations) {
      if (migration.version <= version) continue;
      migration.up(database);
      database.exec(`PRAGMA user_version = ${migration.version}`);
    }
    database.exec(`PRAGMA application_id = ${applicationId}`);
  });
}
