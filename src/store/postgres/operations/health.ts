import type { StoreAdvice, StoreFact, StoreHealth } from '../../../core/store/store-health.ts';
import type { Connection } from '../connection.ts';
import { type SchemaState, schemaState } from '../migrate.ts';
import { activityReport } from './health-activity.ts';
import { rightsReport } from './health-rights.ts';
import { settingsReport } from './health-settings.ts';
import { sizesReport } from './health-sizes.ts';

/** The store to report on. */
export interface HealthOptions {
  readonly location: string;
  readonly schema: string;
  readonly isReadOnly: boolean;
  readonly connectionsMax: number;
}

/** Reports what the database is, how large, how durable, and what an operator should look at. */
export async function healthOf(connection: Connection, options: HealthOptions): Promise<StoreHealth> {
  const { location, schema, isReadOnly, connectionsMax } = options;
  const state = await schemaState(connection, schema);
  const settings = await settingsReport(connection);
  const rights = await rightsReport(connection, schema);
  const sizes = await sizesReport(connection, schema);
  const activity = await activityReport(connection, connectionsMax);
  const migration = await migrationReport(connection, state, schema);
  return {
    kind: 'postgres',
    location,
    schema: String(state.version),
    bytes: sizes.tables.reduce((sum, table) => sum + table.bytes + table.indexBytes, 0),
    durability: isReadOnly || settings.isStandby ? 'read-only' : settings.isSafe ? 'disk' : 'process',
    facts: [
      ...settings.facts.slice(0, 1),
      migration.fact,
      ...settings.facts.slice(1),
      rights.fact,
      ...activity.facts,
      sizes.fact,
    ],
    tables: sizes.tables,
    namespaces: sizes.namespaces,
    advice: [...rights.advice, ...activity.advice, ...sizes.advice],
    problems: [...settings.problems, ...rights.problems, ...migration.problems, ...activity.problems],
  };
}

const migratingSql = `
SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = 1382051443 AND objid = hashtext($1)::oid AND granted`;

/** Reports the version of the schema, and a migration that has not ended. */
async function migrationReport(
  connection: Connection,
  { version, unfinished }: SchemaState,
  schema: string,
): Promise<{ readonly fact: StoreFact; readonly problems: readonly StoreAdvice[] }> {
  const known = connection.schemaKnown;
  const isMigrating = (await connection.get(migratingSql, schema)) !== undefined;
  const place =
    version === known
      ? 'the one that this release makes'
      : version < known
        ? `this release will make it ${known}`
        : `this release makes ${known}, and may continue`;
  const fact = (more: string): StoreFact => ({ name: 'schema', text: `version ${version}, ${place}${more}` });
  if (unfinished === undefined) return { fact: fact(''), problems: [] };
  const how = `a migration to ${unfinished.version} (release ${unfinished.release}) has made ${unfinished.done} changes`;
  if (isMigrating) return { fact: fact(`; ${how}, and continues`), problems: [] };
  const todo = `Open the store once as its owner with release ${unfinished.release}: it continues where it stopped`;
  return { fact: fact(`; ${how}`), problems: [{ message: `A migration was cut short: ${how}`, todo }] };
}
