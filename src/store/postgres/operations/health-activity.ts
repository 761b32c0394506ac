import type { StoreAdvice, StoreFact } from '../../../core/store/store-health.ts';
import type { Queries } from '../connection.ts';
import { postgresCode } from '../postgres-error.ts';

/** The activity of the server. */
export interface ActivityReport {
  readonly facts: readonly StoreFact[];
  readonly advice: readonly StoreAdvice[];
  readonly problems: readonly StoreAdvice[];
}

/** Looks at connections, open transactions, waits for locks and slow statements. */
export async function activityReport(
  queries: Queries,
  connectionsMax: number,
  { longMs = transactionMsMax }: { readonly longMs?: number } = {},
): Promise<ActivityReport> {
  const crowd = await crowding(queries, connectionsMax);
  const waits = await waiting(queries, longMs);
  return {
    facts: [...crowd.facts, ...waits.facts, await slowness(queries)],
    advice: crowd.advice,
    problems: [...crowd.problems, ...waits.problems],
  };
}

const crowdSql = `
SELECT count(*)::int, current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
FROM pg_stat_activity WHERE backend_type = 'client backend'`;

async function crowding(queries: Queries, connectionsMax: number): Promise<ActivityReport> {
  const [used, max] = await queries.one<[number, number]>(crowdSql);
  const isFull = used >= max * 0.9;
  const todo = 'Close other clients, let each process use fewer connections, or raise max_connections';
  return {
    facts: [
      {
        name: 'connections',
        text: `${used} of ${max} in use; a process takes up to ${connectionsMax}, and one to listen`,
      },
    ],
    problems: isFull ? [{ message: `${used} of ${max} connections are in use`, todo }] : [],
    advice:
      !isFull && max - used < connectionsMax
        ? [{ message: `One more process may not find its ${connectionsMax} connections: ${max - used} are left`, todo }]
        : [],
  };
}

/** A transaction that is open for longer than this is a problem. */
const transactionMsMax = 60_000;
const waitMs = 1_000;
const shownMax = 5;

const longSql = `
SELECT pid, usename::text, application_name, extract(epoch FROM now() - xact_start)::int FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND xact_start < now() - make_interval(secs => $1::float8 / 1000)
ORDER BY xact_start LIMIT ${shownMax}`;

const lockSql = `
SELECT DISTINCT ON (l.pid) l.pid, c.relname::text, extract(epoch FROM now() - l.waitstart)::int, (pg_blocking_pids(l.pid))[1]
FROM pg_locks l JOIN pg_class c ON c.oid = l.relation OR c.oid = (SELECT r.relation FROM pg_locks r WHERE r.pid = l.pid AND r.locktype = 'tuple' LIMIT 1)
WHERE NOT l.granted AND c.relnamespace = current_schema()::regnamespace AND l.waitstart < now() - make_interval(secs => $1::float8 / 1000)
ORDER BY l.pid LIMIT ${shownMax}`;

const seesAllSql = `SELECT pg_has_role('pg_read_all_stats', 'USAGE'), quote_ident(current_user)`;

async function waiting(queries: Queries, longMs: number): Promise<ActivityReport> {
  const long = await queries.all<[number, string, string, number]>(longSql, longMs);
  const locks = await queries.all<[number, string, number, number | null]>(lockSql, waitMs);
  const [seesAll, user] = await queries.one<[boolean, string]>(seesAllSql);
  const sight = seesAll ? '' : ` (seen of this user only: GRANT pg_read_all_stats TO ${user}; shows all)`;
  const end = (pid: number): string => `SELECT pg_terminate_backend(${pid});`;
  return {
    advice: [],
    facts: [
      {
        name: 'activity',
        text: `${long.length === 0 ? 'no' : long.length} transaction open for over a minute, ${locks.length === 0 ? 'no process waits' : `${locks.length} wait`} for a lock on these tables${sight}`,
      },
    ],
    problems: [
      ...long.map(([pid, who, program, seconds]) => ({
        message: `Process ${pid} of ${who} (${program || 'no name'}) has had a transaction open for ${seconds} s, which delays vacuuming and perhaps writers`,
        todo: `Let it end, or end it: ${end(pid)}`,
      })),
      ...locks.map(([pid, table, seconds, holder]) => ({
        message: `Process ${pid} has waited for a lock on ${table} for ${seconds} s${holder === null ? '' : `, which process ${holder} holds`}`,
        todo:
          holder === null
            ? 'Look into pg_locks for who holds it'
            : `Let process ${holder} end, or end it: ${end(holder)}`,
      })),
    ],
  };
}

const statementsSql = `
SELECT round(mean_exec_time::numeric, 1)::text, calls, left(regexp_replace(query, '\\s+', ' ', 'g'), 60) FROM pg_stat_statements
WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND userid = (SELECT oid FROM pg_roles WHERE rolname = current_user)
  AND query ~ '\\m(events|event_keys|branches|sessions|parts|part_holders|snapshots)\\M' AND query !~ 'pg_stat|pg_class'
ORDER BY mean_exec_time DESC LIMIT 3`;

const placeSql = `
SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'`;

const howTo =
  "not known, since pg_stat_statements is off: set shared_preload_libraries = 'pg_stat_statements', restart the server, and let a superuser type CREATE EXTENSION pg_stat_statements";

async function slowness(queries: Queries): Promise<StoreFact> {
  const name = 'slowest';
  const place = await queries.get<[string]>(placeSql);
  if (place === undefined) return { name, text: howTo };
  try {
    const found = await queries.all<[string, number, string]>(
      statementsSql.replace('FROM pg_stat_statements', `FROM ${place[0]}.pg_stat_statements`),
    );
    const text = found.map(([ms, calls, query]) => `${ms} ms on average of ${calls} calls: ${query} …`).join('; ');
    return { name, text: text === '' ? 'no statement was counted yet' : text };
  } catch (error) {
    // The extension exists, but the server does not load it, or the user may not read it.
    if (postgresCode(error) === undefined) throw error;
    return { name, text: howTo };
  }
}
