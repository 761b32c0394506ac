import type { Database } from '../../src/store/sqlite/database.ts';
import type { Migration } from '../../src/store/sqlite/migrate.ts';
import { migrations } from '../../src/store/sqlite/schema.ts';

/** How many rows the invented release writes: enough to be killed in the middle. */
const grownRows = 20_000;

/** The real migrations, and an invented release after them that takes a while. */
export const growingMigrations: readonly Migration[] = [
  ...migrations,
  {
    release: '99.0.0',
    version: (migrations.at(-1)?.version ?? 0) + 1,
    up: (database: Database) => {
      database.exec('CREATE TABLE grown (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT');
      for (let id = 1; id <= grownRows; id++) database.run('INSERT INTO grown VALUES (?, ?)', id, 'x'.repeat(100));
      database.exec('CREATE INDEX grown_text ON grown (text, id)');
    },
  },
];
