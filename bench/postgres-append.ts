/** Many writers in one process that append to PostgreSQL, held against a connection each, and against Emmett. */
import { getPostgreSQLEventStore } from '@event-driven-io/emmett-postgresql';
import type { Sql } from 'postgres';
import type { JsonObject, Session } from '../src/index.ts';
import { alternate, atLeast, type Contender, forTheRecord, minimum, type Row, spread, timeEach } from './measure.ts';
import { BenchServer, openPostgres } from './postgres.ts';
import { payloads, plainType, textsOf } from './workload.ts';
import { sessionId, type Workspace } from './workspace.ts';

const writers = 64;
/** Server, client and disk are shared with the rest of the machine: many short rounds find their quiet moments for every contender. */
const roundsFactor = 4;

/** Rows of appends to PostgreSQL. */
export async function benchPostgresAppend(workspace: Workspace): Promise<Row[]> {
  const { isQuick, diskRounds } = workspace.sizes;
  const each = isQuick ? 2 : 8;
  await using server = await BenchServer.start();
  await using opened = await openPostgres(server.storeUrl());
  const sessions = await Promise.all(
    Array.from({ length: writers }, (_, index) => opened.reprise.session(`${sessionId}-${index}`, { create: true })),
  );
  const data = payloads(200, 600);
  const texts = textsOf(data);
  const connections = Array.from({ length: writers }, () => server.sql());
  await Promise.all(connections.map((sql) => sql.unsafe('SELECT 1')));
  const emmett = await EmmettWriters.open(server.url, data);
  try {
    const times = await alternate(isQuick ? 1 : diskRounds * roundsFactor, {
      session: driven(each, appending([opened.session], data)),
      sessions: driven(each, appending(sessions, data)),
      connections: driven(each, await inserting(connections, plainSql, texts)),
      heads: driven(each, await inserting(connections, headsSql, texts)),
      coalesced: driven(each, await coalescing(server.sql(), texts)),
      emmett: driven(Math.ceil(each / 4), emmett.append),
    });
    return rowsOf(times);
  } finally {
    await emmett.close();
  }
}

type Times = Readonly<
  Record<'session' | 'sessions' | 'connections' | 'heads' | 'coalesced' | 'emmett', readonly number[]>
>;

function rowsOf(times: Times): Row[] {
  const rate = (own: readonly number[]): string => `${Math.round(1_000 / minimum(own)).toLocaleString('en')}/s`;
  const against = (own: keyof Times, other: keyof Times): number => minimum(times[other]) / minimum(times[own]);
  const both = (own: keyof Times, other: keyof Times): string =>
    `least of ${times[own].length} rounds; ${spread(times[own])} an append (${rate(times[own])}) against ${spread(times[other])} (${rate(times[other])})`;
  return [
    atLeast({
      name: 'PostgreSQL: 64 writers with a session each, through one process, against 64 connections that insert the same bytes',
      value: against('sessions', 'connections'),
      limit: 4,
      unit: '×',
      detail: `${both('sessions', 'connections')}; each append under the condition that its head has not moved`,
      cause: sessionsCause,
    }),
    atLeast({
      name: 'PostgreSQL: 64 writers in one session against 64 connections that insert the same bytes',
      value: against('session', 'connections'),
      limit: 4,
      unit: '×',
      detail: both('session', 'connections'),
      cause: appendCause,
    }),
    forTheRecord(
      'PostgreSQL: 64 writers against 64 connections that keep a head each',
      `${against('sessions', 'heads').toFixed(2)}× and ${against('session', 'heads').toFixed(2)}×`,
      `with a session each, and in one; a connection inserts the same bytes at the next seq of a row that it raises in the same statement: ${spread(times.heads)} (${rate(times.heads)})`,
    ),
    forTheRecord(
      'PostgreSQL: the same bytes of 64 writers in one plain statement after the other',
      `${against('coalesced', 'connections').toFixed(2)}×`,
      `${both('coalesced', 'connections')}; without chain, ids, conditions and indexes: what coalescing can give at most`,
    ),
    atLeast({
      name: 'PostgreSQL: 64 writers with a session each against Emmett, a stream each',
      value: against('sessions', 'emmett'),
      limit: 2.5,
      unit: '×',
      detail: `${both('sessions', 'emmett')}; both under the condition that the head has not moved`,
      cause: sessionsCause,
    }),
    atLeast({
      name: 'PostgreSQL: 64 writers in one session against Emmett, a stream each',
      value: against('session', 'emmett'),
      limit: 2.5,
      unit: '×',
      detail: both('session', 'emmett'),
      cause: appendCause,
    }),
  ];
}

const appendCause =
  'canonical JSON, two SHA-256, ids and salts on the client; on the server a row of twenty columns with two indexes, where the plain one has six and one.';
const sessionsCause = `a row of a session is locked and one of a branch rewritten for each append, where the plain insert does neither; then ${appendCause}`;

type Append = (writer: number) => Promise<unknown>;

/** All writers at once, each of which appends again as soon as its last append is stored. */
function driven(each: number, append: Append): Contender {
  return () =>
    timeEach(writers * each, () =>
      Promise.all(
        Array.from({ length: writers }, async (_, writer) => {
          for (let time = 0; time < each; time++) await append(writer);
        }),
      ),
    );
}

/** The real append. A writer that has a session to itself minds its head, as an agent does that decides on what it has read. */
function appending(sessions: readonly Session[], data: readonly JsonObject[]): Append {
  const heads = new Map<number, number>();
  let at = 0;
  return async (writer) => {
    const draft = { type: plainType, data: data[at++ % data.length] as JsonObject };
    const session = sessions[writer % sessions.length] as Session;
    if (sessions.length === 1) return await session.append(draft);
    const head = heads.get(writer) ?? 0;
    await session.append(draft, { head });
    heads.set(writer, head + 1);
  };
}

/** A store as a person would write it by hand: a connection for each writer, and one statement for each event. */
async function inserting(
  connections: readonly Sql[],
  { table, insert }: Insert,
  texts: readonly string[],
): Promise<Append> {
  await connections[0]?.unsafe(table);
  const seqs = Array.from({ length: writers }, () => 0);
  let at = 0;
  return async (writer) => {
    const seq = (seqs[writer] as number) + 1;
    seqs[writer] = seq;
    const values = [writer, seq, plainType, 1_760_000_000_000 + seq, texts[at++ % texts.length] as string, digest];
    await connections[writer]?.unsafe(insert, values, { prepare: true });
  };
}

/** The same rows, those of all writers that wait in one statement. */
async function coalescing(sql: Sql, texts: readonly string[]): Promise<Append> {
  await sql.unsafe(plainTable('coalesced'));
  const seqs = Array.from({ length: writers }, () => 0);
  let waiting: { readonly writer: number; readonly text: string; readonly done: () => void }[] = [];
  let isBusy = false;
  let at = 0;
  const flush = async (): Promise<void> => {
    isBusy = true;
    await new Promise<void>((resolve) => process.nextTick(resolve));
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      const next = group.map(({ writer }) => ++(seqs[writer] as number)) as number[];
      await sql.unsafe(
        `INSERT INTO coalesced SELECT w, s, '${plainType}', 1760000000000 + s, t, '${digest}' FROM unnest($1::int[], $2::bigint[], $3::text[]) x (w, s, t)`,
        [group.map(({ writer }) => writer), next, group.map(({ text }) => text)],
        { prepare: true },
      );
      for (const { done } of group) done();
    }
    isBusy = false;
  };
  return (writer) =>
    new Promise<void>((done) => {
      waiting.push({ writer, text: texts[at++ % texts.length] as string, done });
      if (!isBusy) void flush();
    });
}

const digest = 'd'.repeat(64);

const plainTable = (name: string): string =>
  `CREATE TABLE ${name} (branch int NOT NULL, seq bigint NOT NULL, type text NOT NULL, time bigint NOT NULL, payload text NOT NULL, digest text NOT NULL, PRIMARY KEY (branch, seq))`;

interface Insert {
  readonly table: string;
  readonly insert: string;
}

const plainSql: Insert = { table: plainTable('plain'), insert: 'INSERT INTO plain VALUES ($1, $2, $3, $4, $5, $6)' };

const headsSql: Insert = {
  table: `${plainTable('headed')}; CREATE TABLE heads (branch int PRIMARY KEY, head bigint NOT NULL) WITH (fillfactor = 50);
    INSERT INTO heads SELECT branch, 0 FROM generate_series(0, ${writers - 1}) branch`,
  insert: `WITH next AS (UPDATE heads SET head = head + 1 WHERE branch = $1 AND head = $2::bigint - 1 RETURNING branch, head)
    INSERT INTO headed SELECT branch, head, $3, $4::bigint, $5, $6 FROM next`,
};

class EmmettWriters {
  readonly append: Append;
  readonly close: () => Promise<void>;

  private constructor(store: ReturnType<typeof getPostgreSQLEventStore>, data: readonly JsonObject[]) {
    const versions = Array.from({ length: writers }, () => 0n);
    let at = 0;
    this.append = async (writer) => {
      const event = { type: plainType, data: data[at++ % data.length] as Record<string, unknown> };
      const expectedStreamVersion = versions[writer] as bigint;
      const { nextExpectedStreamVersion } = await store.appendToStream(`tool-${writer}`, [event], {
        expectedStreamVersion,
      });
      versions[writer] = nextExpectedStreamVersion;
    };
    this.close = () => store.close();
  }

  static async open(url: string, data: readonly JsonObject[]): Promise<EmmettWriters> {
    const store = getPostgreSQLEventStore(url);
    await store.schema.migrate();
    return new EmmettWriters(store, data);
  }
}
