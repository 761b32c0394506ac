import type { Migration } from '../migrate.ts';
import { schema010 } from './0-1-0.sql.ts';

/** From nothing to the first release. */
export const migration010: Migration = {
  release: '0.1.0',
  version: 1,
  changes: [{ kind: 'brief', sql: schema010 }],
};
