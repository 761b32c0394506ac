import { RepriseError } from '../../core/error.ts';
import { unreleasedStore } from '../sql/unreleased-store.ts';
import type { Database } from './database.ts';

/** Marks a SQLite file as a Reprise store: "Repr". */
const applicationId = 0x52657072;

/** The mark of a file that was written before the first release: "Rprs". */
const unreleasedId = 0x52707273;

/** The schema change of one release. */
export interface Migration {
  readonly release: string;
  /** The value of `PRAGMA user_version` after it. */
  readonly version: number;
  readonly up: (database: Database) => void;
}

/** Returns the schema version of a file; 0 for an empty one. */
export function schemaVersion(database: Database): number {
  return database.one<[number]>('PRAGMA user_version')[0];
}

/** Returns the version that these migrations lead to. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/** Throws unless the file is a Reprise store that this release can read. Writes nothing; returns the schema version. */
export function checkFile(database: Database, migrations: readonly Migration[]): number {
  const [application] = database.one<[number]>('PRAGMA application_id');
  const version = schemaVersion(database);
  const [tables] = database.one<[number]>('SELECT count(*) FROM sqlite_schema');
  if (application === 0 && version === 0 && tables === 0) return 0;
  if (application === unreleasedId) throw unreleasedStore();
  if (application !== applicationId) {
    throw new RepriseError(
      'store.damaged',
      'Cannot open the store: the file is a SQLite database of a different program',
      {
        hint: 'Name a different file, or the right store.',
      },
    );
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

/** Migrates a file to the latest schema, in one transaction, unless it has it already. */
export function migrate(database: Database, migrations: readonly Migration[]): void {
  if (checkFile(database, migrations) === latestVersion(migrations)) return;
  database.transaction(() => {
    // A different process may have migrated before this one got the lock.
    const version = checkFile(database, migrations);
    for (const migration of migrations) {
      if (migration.version <= version) continue;
      migration.up(database);
      database.exec(`PRAGMA user_version = ${migration.version}`);
    }
    database.exec(`PRAGMA application_id = ${applicationId}`);
  });
}
