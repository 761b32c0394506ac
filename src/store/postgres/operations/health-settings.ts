import type { StoreAdvice, StoreFact } from '../../../core/store/store-health.ts';
import type { Queries } from '../connection.ts';

/** The oldest PostgreSQL with everything that Reprise uses. */
const serverMin = 14;

type Settings = readonly [
  version: string,
  number: number,
  commit: string,
  fsync: string,
  pages: string,
  isStandby: boolean,
  walLevel: string,
  standbys: string,
  encoding: string,
  collation: string,
  statement: string,
  lock: string,
  idle: string,
];

const settingsSql = `
SELECT current_setting('server_version'), current_setting('server_version_num')::int, current_setting('synchronous_commit'), current_setting('fsync'),
  current_setting('full_page_writes'), pg_is_in_recovery(), current_setting('wal_level'), current_setting('synchronous_standby_names'),
  pg_encoding_to_char(d.encoding), d.datcollate, current_setting('statement_timeout'), current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')
FROM pg_database d WHERE d.datname = current_database()`;

/** The server and its settings. */
export interface SettingsReport {
  readonly facts: readonly StoreFact[];
  readonly problems: readonly StoreAdvice[];
  readonly isStandby: boolean;
  /** Whether acknowledged appends survive power loss. */
  readonly isSafe: boolean;
}

/** Reports the settings that decide whether an acknowledged append is safe. */
export async function settingsReport(queries: Queries): Promise<SettingsReport> {
  const settings = await queries.one<Settings>(settingsSql);
  const [, , commit, fsync, pages, isStandby] = settings;
  return {
    facts: factsOf(settings),
    problems: problemsOf(settings),
    isStandby,
    isSafe: commit !== 'off' && fsync === 'on' && pages === 'on',
  };
}

function factsOf(settings: Settings): StoreFact[] {
  const [version, number, commit, fsync, pages, isStandby, walLevel, standbys, encoding, collation] = settings;
  const [, , , , , , , , , , statement, lock, idle] = settings;
  const isKnown = number >= serverMin * 10_000;
  const replication = isStandby
    ? 'this is a standby: it only reads'
    : standbys === ''
      ? 'no synchronous standby: a failover loses what the standby had not received'
      : `synchronous_standby_names ${JSON.stringify(standbys)}`;
  return [
    {
      name: 'server',
      text: `PostgreSQL ${version}, ${isKnown ? 'supported' : `too old: ${serverMin} or later is needed`}`,
    },
    { name: 'durable', text: `synchronous_commit ${commit}, fsync ${fsync}, full_page_writes ${pages}` },
    { name: 'replicated', text: `wal_level ${walLevel}; ${replication}` },
    {
      name: 'waits',
      text: `statement_timeout ${statement}, lock_timeout ${lock}, idle_in_transaction_session_timeout ${idle} (set by Reprise)`,
    },
    {
      name: 'encoding',
      text: `${encoding}; the collation ${JSON.stringify(collation)} does not matter, since names are compared by their bytes`,
    },
  ];
}

function problemsOf(settings: Settings): StoreAdvice[] {
  const [version, number, , fsync, pages, , , , encoding] = settings;
  const reload = '; SELECT pg_reload_conf();';
  return [
    ...(number >= serverMin * 10_000
      ? []
      : [{ message: `PostgreSQL ${version} is too old`, todo: `Update the server to ${serverMin} or later` }]),
    ...(fsync === 'on'
      ? []
      : [
          {
            message: 'A power failure can destroy the database, since fsync is off',
            todo: `Let a superuser type: ALTER SYSTEM SET fsync = on${reload}`,
          },
        ]),
    ...(pages === 'on'
      ? []
      : [
          {
            message: 'A power failure can damage pages, since full_page_writes is off',
            todo: `Let a superuser type: ALTER SYSTEM SET full_page_writes = on${reload}`,
          },
        ]),
    ...(encoding === 'UTF8'
      ? []
      : [
          {
            message: `The database's encoding is ${encoding}, so not every text can be stored`,
            todo: `Make a database with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and record there`,
          },
        ]),
  ];
}
