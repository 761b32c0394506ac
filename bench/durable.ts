/** Appends that survive power loss: one at a time, and many at once. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Session } from '../src/index.ts';
import { rawInsert, rawSchema } from './append.ts';
import { alternate, atLeast, atMost, minimum, type Row, spread, timeEach } from './measure.ts';
import { drafts, payloads, textsOf } from './workload.ts';
import { open, remove, sessionId, type Workspace } from './workspace.ts';

const appenders = 64;

/** Rows of durable appends. */
export async function benchDurable(workspace: Workspace): Promise<Row[]> {
  const { isQuick, diskRounds } = workspace.sizes;
  const appends = isQuick ? 5 : 100;
  const times = await alternate(diskRounds, {
    file: () => syncFile(workspace, appends),
    single: () => appendDurably(workspace, appends, 1, 1),
    raw: () => insertDurably(workspace, appends),
    together: () => appendDurably(workspace, isQuick ? 1 : 10, appenders, 1),
    sessions: () => appendDurably(workspace, isQuick ? 1 : 10, appenders, appenders),
  });
  const ratio = (over: readonly number[], under: readonly number[]): number => minimum(over) / minimum(under);
  return [
    atLeast({
      name: '64 concurrent durable appenders against one transaction each',
      value: ratio(times.single, times.together),
      limit: 8,
      unit: '×',
      detail: `${spread(times.together)} an event against ${spread(times.single)}; 64 appenders in 64 sessions ${spread(times.sessions)}; a raw insert in a transaction of its own ${spread(times.raw)}, which is ${ratio(times.raw, times.together).toFixed(1)}×`,
      cause: 'what is left once the sync is shared is the work of the append path itself.',
    }),
    atMost({
      name: 'single durable append against fdatasync of the same bytes',
      value: ratio(times.single, times.file),
      limit: 1.2,
      unit: '×',
      detail: `least of ${diskRounds} rounds: ${spread(times.single)} against ${spread(times.file)}; a raw insert, FULL: ${spread(times.raw)}, which is ${ratio(times.raw, times.file).toFixed(2)}×`,
      cause:
        'SQLite writes whole pages (one of the table and one of each index) where the file gets only the bytes, and each append goes through one turn of the event loop.',
    }),
  ];
}

function syncFile(workspace: Workspace, appends: number): Promise<number> {
  const texts = textsOf(payloads(200, 600));
  const path = workspace.path('synced');
  const file = openSync(path, 'a');
  return timeEach(appends, () => {
    for (let index = 0; index < appends; index++) {
      writeSync(file, texts[index % texts.length] as string);
      fdatasyncSync(file);
    }
  }).finally(() => {
    closeSync(file);
    remove(path);
  });
}

async function appendDurably(
  workspace: Workspace,
  rounds: number,
  concurrent: number,
  sessionCount: number,
): Promise<number> {
  const path = workspace.path('durable.db');
  const data = payloads(200, 600);
  try {
    await using opened = await open(path, 'disk');
    const sessions: Session[] = await Promise.all(
      Array.from({ length: sessionCount }, (_, index) =>
        opened.reprise.session(`${sessionId}-${index}`, { create: true }),
      ),
    );
    const appendTogether = (round: number): Promise<unknown> =>
      Promise.all(
        drafts(data, concurrent, round * concurrent).map((draft, index) =>
          (sessions[index % sessionCount] as Session).append(draft),
        ),
      );
    return await timeEach(rounds * concurrent, async () => {
      for (let round = 0; round < rounds; round++) await appendTogether(round);
    });
  } finally {
    remove(path);
  }
}

function insertDurably(workspace: Workspace, appends: number): Promise<number> {
  const texts = textsOf(payloads(200, 600));
  const path = workspace.path('raw-durable.db');
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${rawSchema}`);
  const insert = database.prepare(rawInsert);
  return timeEach(appends, () => {
    for (let seq = 1; seq <= appends; seq++)
      insert.run(1, seq, 'tool.answered', seq, texts[seq % texts.length] as string);
  }).finally(() => {
    database.close();
    remove(path);
  });
}
