/** The same work on PostgreSQL and on SQLite: appends, replay, reads of state as of any commit, and forks; and its size. */
import type { Contender } from './measure.ts';
import { alternate, bytes, forTheRecord, median, minimum, type Row, spread, timeEach } from './measure.ts';
import { BenchServer, openPostgres } from './postgres.ts';
import { drafts, payloads, randomSource } from './workload.ts';
import { type Opened, open, settledBytes, type Workspace } from './workspace.ts';

const keys = 100;
const keyOf = (index: number): string => `task/${index % keys}`;

/** Rows of PostgreSQL compared with SQLite. */
export async function benchPostgresReads(workspace: Workspace): Promise<Row[]> {
  const { isQuick, rounds, diskRounds, events } = workspace.sizes;
  const history = Math.ceil(events / 5);
  await using server = await BenchServer.start();
  await using postgres = await openPostgres(server.storeUrl());
  await using sqlite = await open(workspace.path('beside.db'), 'disk');
  await using states = await openPostgres(server.storeUrl());
  await using sqliteStates = await open(workspace.path('states-beside.db'), 'disk');
  for (const { session } of [postgres, sqlite]) await fill(session, history);
  for (const { session } of [states, sqliteStates]) await fillState(session, history);
  const reads = await alternate(rounds, {
    replay: () => timeEach(history, () => replayed(postgres)),
    replaySqlite: () => timeEach(history, () => replayed(sqlite)),
    asOf: readingAsOf(states, history, isQuick ? 10 : 300),
    asOfSqlite: readingAsOf(sqliteStates, history, isQuick ? 10 : 300),
  });
  const writes = await alternate(isQuick ? 1 : diskRounds, {
    single: appending(postgres, isQuick ? 2 : 40, 1),
    singleSqlite: appending(sqlite, isQuick ? 2 : 40, 1),
    batch: appending(postgres, isQuick ? 1 : 10, 100),
    batchSqlite: appending(sqlite, isQuick ? 1 : 10, 100),
    fork: forking(postgres, history, isQuick ? 1 : 10),
    forkSqlite: forking(sqlite, history, isQuick ? 1 : 10),
  });
  const middle = (name: string, own: readonly number[], other: readonly number[]): Row =>
    forTheRecord(name, `${(median(own) / median(other)).toFixed(2)}×`, `${spread(own)} against ${spread(other)}`);
  const least = (name: string, own: readonly number[], other: readonly number[]): Row =>
    forTheRecord(
      name,
      `${(minimum(own) / minimum(other)).toFixed(2)}×`,
      `least of ${own.length} rounds; ${spread(own)} against ${spread(other)}`,
    );
  const count = history.toLocaleString('en');
  return [
    least('PostgreSQL against SQLite: a single durable append', writes.single, writes.singleSqlite),
    least('PostgreSQL against SQLite: durable appends of 100 events, an event', writes.batch, writes.batchSqlite),
    middle(`PostgreSQL against SQLite: replay of ${count} events, an event`, reads.replay, reads.replaySqlite),
    middle(`PostgreSQL against SQLite: get as of any of ${count} commits`, reads.asOf, reads.asOfSqlite),
    least(`PostgreSQL against SQLite: fork in the middle of ${count} events`, writes.fork, writes.forkSqlite),
  ];
}

/** Rows of what a history takes on the server's disk. */
export async function benchPostgresDisk(workspace: Workspace): Promise<Row[]> {
  const events = Math.ceil(workspace.sizes.events / 5);
  await using server = await BenchServer.start();
  const url = server.storeUrl();
  const path = workspace.path('disk-beside.db');
  for (const make of [() => openPostgres(url), () => open(path, 'process')]) {
    await using opened = await make();
    await fill(opened.session, events);
  }
  const schema = new URL(url).searchParams.get('schema') ?? '';
  const [row] = await server.sql().unsafe<{ total: string; canonical: string }[]>(
    `SELECT (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = '${schema}' AND c.relkind = 'r' AND c.relname NOT IN ('snapshots', 'event_keys'))::text AS total,
     (SELECT avg(octet_length(data)) FROM ${schema}.events)::text AS canonical`,
  );
  const each = Number(row?.total) / events;
  const canonical = Number(row?.canonical);
  const allowed = 1.3 * canonical + 160;
  const sqlite = settledBytes(path) / events;
  return [
    forTheRecord(
      'PostgreSQL: disk an event, against 1.3 × its canonical bytes + 160 B',
      `${(each / allowed).toFixed(2)}×`,
      `${bytes(each)} for ${bytes(canonical)} of canonical JSON, ${bytes(allowed)} by the rule, which was made for SQLite; ${bytes(sqlite)} there, which is ${(sqlite / allowed).toFixed(2)}×; a row of PostgreSQL has a head of 24 B, a page is filled as far as whole rows go, and the index of ids repeats each id`,
    ),
  ];
}

async function fill(session: Opened['session'], events: number): Promise<void> {
  const data = payloads(2_000, 600);
  for (let from = 0; from < events; from += 1_000)
    await session.append(drafts(data, Math.min(1_000, events - from), from));
}

async function fillState(session: Opened['session'], commits: number): Promise<void> {
  const data = payloads(200, 600);
  for (let from = 0; from < commits; from += 1_000) {
    const count = Math.min(1_000, commits - from);
    await session.append(
      Array.from({ length: count }, (_, index) => {
        const at = from + index;
        const version = Math.floor(at / keys) + 1;
        const value = data[at % data.length] ?? {};
        const operation = { agent: 'default', key: keyOf(at), op: 'write', value, version };
        return { type: 'state.committed', data: { operations: [operation] } };
      }),
    );
  }
}

async function replayed({ session }: Opened): Promise<void> {
  for await (const event of session.replay()) if (event.seq < 1) throw new Error('There is no event 0');
}

function readingAsOf({ session }: Opened, commits: number, count: number): Contender {
  const random = randomSource(11);
  const places = Array.from({ length: count }, () => Math.floor(random() * commits));
  return () =>
    timeEach(count, async () => {
      for (const place of places) await session.at(place + 1).state.get(keyOf(place));
    });
}

function appending({ session }: Opened, times: number, each: number): Contender {
  const batch = drafts(payloads(200, 600), each);
  return () =>
    timeEach(times * each, async () => {
      for (let time = 0; time < times; time++) await session.append(batch);
    });
}

function forking({ session }: Opened, history: number, times: number): Contender {
  let made = 0;
  return () =>
    timeEach(times, async () => {
      for (let time = 0; time < times; time++)
        await session.at({ seq: (history >> 1) + (made % 97) }).fork({ name: `f${made++}` });
    });
}
