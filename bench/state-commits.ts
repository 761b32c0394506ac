/** State: commits, reads as of any point and replay, held against a table of versions that someone would write by hand. */
import { DatabaseSync } from 'node:sqlite';
import { canonicalJson } from '../src/core/canonical-json.ts';
import type { JsonObject, State } from '../src/index.ts';
import {
  alternate,
  atMost,
  type Contender,
  forTheRecord,
  median,
  minimum,
  type Row,
  spread,
  timeEach,
} from './measure.ts';
import { payloads, randomSource } from './workload.ts';
import { type Opened, open, type Workspace } from './workspace.ts';

const keys = 100;
const agent = 'default';
const commitsEach = 10;
const readsEach = 2_000;
/** The disk is shared with the rest of the machine: many short rounds find its quiet moments for every contender. */
const roundsFactor = 8;

const keyOf = (index: number): string => `task/${index % keys}`;

/** Rows of commits, reads and replay of state. */
export async function benchStateCommits(workspace: Workspace): Promise<Row[]> {
  return [...(await commitRows(workspace)), ...(await readRows(workspace))];
}

async function commitRows(workspace: Workspace): Promise<Row[]> {
  const rounds = workspace.sizes.diskRounds * (workspace.sizes.isQuick ? 1 : roundsFactor);
  const data = payloads(200, 600);
  const rows: Row[] = [];
  for (const operations of [1, 10]) {
    await using opened = await open(workspace.path(`commits-${operations}.db`), 'disk');
    using plain = new PlainState(workspace.path(`plain-${operations}.db`), 'FULL');
    const times = await alternate(rounds, {
      reprise: committing(opened.session.state, data, operations),
      plain: () =>
        timeEach(commitsEach, () => {
          for (let commit = 0; commit < commitsEach; commit++) plain.commit(data, operations);
        }),
    });
    rows.push(
      atMost({
        name: `durable commit of ${operations === 1 ? 'one operation' : `${operations} operations`} against a plain SQLite transaction`,
        value: minimum(times.reprise) / minimum(times.plain),
        limit: 1.5,
        unit: '×',
        detail: `least of ${rounds} rounds; ${spread(times.reprise)} against ${spread(times.plain)}; the plain table has one row an operation, a version and an index, and no digest, id or log`,
        cause:
          'beside the shared wait for the disk: the look at the versions before it, the log beside the key index, canonical JSON of each value and of the whole, digests (decision 0027).',
      }),
    );
  }
  return rows;
}

function committing(state: State, data: readonly JsonObject[], operations: number): Contender {
  let at = 0;
  return () =>
    timeEach(commitsEach, async () => {
      for (let commit = 0; commit < commitsEach; commit++) {
        const tx = state.begin();
        for (let index = 0; index < operations; index++) tx.write(keyOf(at++), data[at % data.length] as JsonObject);
        await tx.commit();
      }
    });
}

async function readRows(workspace: Workspace): Promise<Row[]> {
  const { events, rounds } = workspace.sizes;
  const data = payloads(200, 600);
  await using opened = await open(workspace.path('states.db'), 'process');
  using plain = new PlainState(workspace.path('plain.db'), 'NORMAL');
  await fill(opened, plain, data, events);
  const { session } = opened;
  const { state } = session;
  const random = randomSource(11);
  const [lasts, pasts] = [0, 0].map(() => Array.from({ length: readsEach }, () => Math.floor(random() * events)));
  const reading =
    (places: readonly number[] = [], read: (key: string, seq: number) => unknown): Contender =>
    () =>
      timeEach(readsEach, async () => {
        for (const place of places) await read(keyOf(place), place + 1);
      });
  const stamps = new Map<number, string>();
  for (const place of pasts ?? [])
    stamps.set(place + 1, String((await session.at(place + 1).state.get(keyOf(place))).time));
  const times = await alternate(rounds, {
    get: reading(lasts, (key) => state.get(key)),
    plain: reading(lasts, (key) => plain.get(key, events)),
    asOf: reading(pasts, (key, seq) => session.at(seq).state.get(key)),
    plainAsOf: reading(pasts, (key, seq) => plain.get(key, seq)),
    atTime: reading(pasts, (key, seq) => session.at({ time: stamps.get(seq) as string }).state.get(key)),
    version: reading(pasts, (key, seq) => state.get(key, { version: Math.ceil(seq / keys) })),
    replay: () => timeEach(events, () => replayed(state, events)),
  });
  const cause =
    'a get asks once whether another process has written, and fetches an event of fourteen columns, of which it parses more than the value.';
  const row = (name: string, own: readonly number[], other: readonly number[]): Row =>
    atMost({
      name: `${name} of ${events.toLocaleString('en')} commits against a plain indexed SELECT, parsing included`,
      value: median(own) / median(other),
      limit: 2,
      unit: '×',
      detail: `${spread(own)} against ${spread(other)}`,
      cause,
    });
  return [
    row('get of a key', times.get, times.plain),
    row('get as of any commit', times.asOf, times.plainAsOf),
    atMost({
      name: `get as of any of ${events.toLocaleString('en')} commits`,
      value: median(times.asOf),
      limit: 1,
      unit: ' ms',
      detail: spread(times.asOf),
      cause: 'see the row above.',
    }),
    atMost({
      name: `get at any time of ${events.toLocaleString('en')} commits`,
      value: median(times.atTime),
      limit: 1,
      unit: ' ms',
      detail: spread(times.atTime),
      cause: 'the time is found by halving the history, which asks for an event some seventeen times.',
    }),
    forTheRecord('get of a version', spread(times.version), 'the view is halved until the version is found'),
    forTheRecord(
      `replay of ${events.toLocaleString('en')} commits of state`,
      `${(median(times.replay) * 1_000).toFixed(2)} µs a commit`,
      `${spread(times.replay)} a commit of one operation of 600 B`,
    ),
  ];
}

async function fill(
  { session }: Opened,
  plain: PlainState,
  data: readonly JsonObject[],
  events: number,
): Promise<void> {
  for (let from = 0; from < events; from += 1_000) {
    const count = Math.min(1_000, events - from);
    await session.append(
      Array.from({ length: count }, (_, index) => {
        const at = from + index;
        const value = data[at % data.length] as JsonObject;
        const version = Math.floor(at / keys) + 1;
        return {
          type: 'state.committed',
          data: { operations: [{ agent, key: keyOf(at), op: 'write', value, version }] },
        };
      }),
    );
  }
  plain.fill(data, events);
}

async function replayed(state: State, events: number): Promise<void> {
  let seen = 0;
  for await (const { operations } of state.replay()) seen += operations.length;
  if (seen !== events) throw new Error(`Saw ${seen} of ${events} commits`);
}

/** A store as a person would write it by hand: every version of every key, by key and by the number of its commit. */
class PlainState implements Disposable {
  readonly #database: DatabaseSync;
  readonly #insert;
  readonly #latest;
  readonly #version;
  readonly #begin;
  readonly #end;
  #seq = 0;
  #at = 0;

  constructor(path: string, synchronous: 'FULL' | 'NORMAL') {
    this.#database = new DatabaseSync(path);
    this.#database.exec(
      `PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
       CREATE TABLE versions(agent TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, version INTEGER NOT NULL, time TEXT NOT NULL, value TEXT, UNIQUE(agent, key, seq))`,
    );
    this.#insert = this.#database.prepare(
      'INSERT INTO versions(agent, key, seq, version, time, value) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#latest = this.#database.prepare(
      'SELECT value, version, seq, time FROM versions WHERE agent = ? AND key = ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
    );
    this.#version = this.#database.prepare(
      'SELECT version FROM versions WHERE agent = ? AND key = ? ORDER BY seq DESC LIMIT 1',
    );
    this.#begin = this.#database.prepare('BEGIN IMMEDIATE');
    this.#end = this.#database.prepare('COMMIT');
  }

  commit(data: readonly JsonObject[], operations: number): void {
    this.#begin.run();
    this.#seq += 1;
    for (let index = 0; index < operations; index++) {
      const key = keyOf(this.#at++);
      const version = Number(this.#version.get(agent, key)?.['version'] ?? 0) + 1;
      this.#write(key, version, data[this.#at % data.length] as JsonObject);
    }
    this.#end.run();
  }

  fill(data: readonly JsonObject[], events: number): void {
    this.#begin.run();
    for (let at = 0; at < events; at++) {
      this.#seq += 1;
      this.#write(keyOf(at), Math.floor(at / keys) + 1, data[at % data.length] as JsonObject);
    }
    this.#end.run();
  }

  #write(key: string, version: number, value: JsonObject): void {
    this.#insert.run(agent, key, this.#seq, version, new Date().toISOString(), canonicalJson(value));
  }

  get(key: string, seq: number): unknown {
    const { value, ...row } = this.#latest.get(agent, key, seq) as { readonly value: string };
    return { ...row, value: JSON.parse(value) as unknown };
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
