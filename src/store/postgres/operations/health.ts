import type { StoreHealth } from '../../../core/ports.ts';
import type { Queries } from '../connection.ts';

type Settings = readonly [
  version: string,
  commit: string,
  fsync: string,
  pages: string,
  isStandby: boolean,
  schema: number,
  bytes: number,
];

const settingsSql = `
SELECT current_setting('server_version'), current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'), pg_is_in_recovery(),
  (SELECT max(version) FROM schema_changes)::int,
  (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r')`;

const tables = [
  'namespaces',
  'sessions',
  'branches',
  'events',
  'event_keys',
  'parts',
  'part_holders',
  'snapshots',
  'receipts',
];

const missingSql = `
SELECT t.name, r.name FROM unnest($1::text[]) t (name) CROSS JOIN unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) r (name)
WHERE to_regclass(t.name) IS NOT NULL AND NOT has_table_privilege(t.name, r.name)`;

const longMs = 60_000;
const longSql = `
SELECT count(*)::int FROM pg_stat_activity
WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid() AND xact_start < now() - make_interval(secs => $1::float8 / 1000)`;

const crowdSql = `SELECT count(*)::int, current_setting('max_connections')::int FROM pg_stat_activity`;

/** What the database is, how large, how durable, and what an operator should look at. */
export async function healthOf(queries: Queries, location: string, isReadOnly: boolean): Promise<StoreHealth> {
  const [, commit, fsync, pages, isStandby, schema, bytes] = (await queries.get<Settings>(settingsSql)) as Settings;
  const isSafe = commit !== 'off' && fsync === 'on' && pages === 'on';
  return {
    kind: 'postgres',
    location,
    schema: String(schema),
    bytes,
    durability: isReadOnly || isStandby ? 'read-only' : isSafe ? 'disk' : 'process',
    problems: [
      ...(fsync === 'on' ? [] : ['A power failure can destroy the database, since fsync is off: turn it on']),
      ...(pages === 'on' ? [] : ['A power failure can damage pages, since full_page_writes is off: turn it on']),
      ...(isReadOnly ? [] : await missingRights(queries)),
      ...(await crowding(queries)),
    ],
  };
}

async function missingRights(queries: Queries): Promise<string[]> {
  const rows = await queries.all<[string, string]>(missingSql, `{${tables.join(',')}}`);
  return rows.map(
    ([table, right]) => `The user may not ${right} on "${table}": grant it, or leave what needs it to another user`,
  );
}

async function crowding(queries: Queries): Promise<string[]> {
  const [long] = (await queries.get<[number]>(longSql, longMs)) as [number];
  const [used, max] = (await queries.get<[number, number]>(crowdSql)) as [number, number];
  return [
    ...(long === 0
      ? []
      : [
          `${long} transactions have been open for over a minute: end them, they hold up vacuuming and perhaps writers`,
        ]),
    ...(used < max * 0.9 ? [] : [`${used} of ${max} connections are in use: close some, or raise max_connections`]),
  ];
}
