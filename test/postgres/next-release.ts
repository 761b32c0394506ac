import type { Migration } from '../../src/store/postgres/migrate.ts';
import { migrations } from '../../src/store/postgres/schema.ts';

/**
 * The real migrations, and an invented release after them that does all that a release may do to a large store: a column,
 * what is in it for every event, an index, and a rule about it. Programs of the release before may go on.
 */
export const nextRelease: readonly Migration[] = [
  ...migrations,
  {
    release: '99.0.0',
    version: 2,
    oldest: 1,
    changes: [
      { kind: 'brief', sql: 'ALTER TABLE events ADD COLUMN data_bytes integer' },
      {
        kind: 'batches',
        rows: 500,
        sql: `UPDATE events SET data_bytes = octet_length(coalesce(data, '')) WHERE ctid = ANY (ARRAY(SELECT ctid FROM events WHERE data_bytes IS NULL LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED))`,
      },
      {
        kind: 'aside',
        sql: [
          'DROP INDEX CONCURRENTLY IF EXISTS events_bytes',
          'CREATE INDEX CONCURRENTLY events_bytes ON events (namespace_id, session_id, data_bytes)',
        ],
      },
      {
        kind: 'brief',
        sql: 'ALTER TABLE events ADD CONSTRAINT events_bytes_positive CHECK (data_bytes >= 0) NOT VALID',
      },
      { kind: 'aside', sql: ['ALTER TABLE events VALIDATE CONSTRAINT events_bytes_positive'] },
    ],
  },
];

/** The same release, but one that leaves programs of the release before behind. */
export const breakingRelease: readonly Migration[] = nextRelease.map((migration) => {
  const { oldest: _oldest, ...strict } = migration;
  return strict;
});
