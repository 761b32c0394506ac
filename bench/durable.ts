/** Appends that survive power loss: one at a time, and many at once. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Session } from '../src/index.ts';
import { rawInserter, rawSchema } from './append.ts';
import { alternate, atLeast, atMost, type Contender, minimum, type Row, spread, timeEach } from './measure.ts';
import { drafts, payloads, textsOf } from './workload.ts';
import { open, sessionId, type Workspace } from './workspace.ts';

const appenders = 64;
const appendsEach = 10;
/** The disk is shared with the rest of the machine: many short rounds find its quiet moments for every contender. */
const roundsFactor = 8;

/** Rows of durable appends. */
export async function benchDurable(workspace: Workspace): Promise<Row[]> {
  const rounds = workspace.sizes.diskRounds * (workspace.sizes.isQuick ? 1 : roundsFactor);
  const texts = textsOf(payloads(200, 600));
  await using opened = await open(workspace.path('durable.db'), 'disk');
  const sessions = await Promise.all(
    Array.from({ length: appenders }, (_, index) => opened.reprise.session(`${sessionId}-${index}`, { create: true })),
  );
  using file = syncedFile(workspace.path('synced'), texts);
  using raw = syncedTable(workspace.path('raw.db'), texts);
  const times = await alternate(rounds, {
    file: file.append,
    single: appending([opened.session], 1, appendsEach),
    raw: raw.append,
    together: appending([opened.session], appenders, 1),
    sessions: appending(sessions, appenders, 1),
  });
  const ratio = (over: readonly number[], under: readonly number[]): number => minimum(over) / minimum(under);
  return [
    atLeast({
      name: '64 concurrent durable appenders against one transaction each',
      value: ratio(times.single, times.together),
      limit: 8,
      unit: '×',
      detail: `least of ${rounds} rounds; ${spread(times.together)} an event against ${spread(times.single)}; 64 appenders in 64 sessions ${spread(times.sessions)}; a raw insert in a transaction of its own ${spread(times.raw)}, which is ${ratio(times.raw, times.together).toFixed(1)}×`,
      cause: 'what is left once the sync is shared is the work of the append path itself.',
    }),
    atMost({
      name: 'single durable append against fdatasync of the same bytes',
      value: ratio(times.single, times.file),
      limit: 1.2,
      unit: '×',
      detail: `least of ${rounds} rounds; ${spread(times.single)} against ${spread(times.file)}; a raw insert, FULL: ${spread(times.raw)}, which is ${ratio(times.raw, times.file).toFixed(2)}×`,
      cause:
        'out of reach where the disk answers in 150 µs: the processor is given 30 µs, of which the bare transaction takes 20 and the append path as much again (decision 0027); the slower the disk, the nearer it comes.',
    }),
  ];
}

interface Peer extends Disposable {
  readonly append: Contender;
}

function syncedFile(path: string, texts: readonly string[]): Peer {
  const file = openSync(path, 'a');
  const append = (): Promise<number> =>
    timeEach(appendsEach, () => {
      for (let index = 0; index < appendsEach; index++) {
        writeSync(file, texts[index % texts.length] as string);
        fdatasyncSync(file);
      }
    });
  return { append, [Symbol.dispose]: () => closeSync(file) };
}

function syncedTable(path: string, texts: readonly string[]): Peer {
  const database = new DatabaseSync(path);
  database.exec(`${rawSchema}; PRAGMA synchronous = FULL`);
  const insert = rawInserter(database, texts);
  const append = (): Promise<number> =>
    timeEach(appendsEach, () => {
      for (let index = 0; index < appendsEach; index++) insert();
    });
  return { append, [Symbol.dispose]: () => database.close() };
}

/** So many appends at a time, spread over sessions, so many times. */
function appending(sessions: readonly Session[], concurrent: number, times: number): Contender {
  const batch = drafts(payloads(200, 600), concurrent);
  return () =>
    timeEach(concurrent * times, async () => {
      for (let time = 0; time < times; time++)
        await Promise.all(batch.map((draft, index) => (sessions[index % sessions.length] as Session).append(draft)));
    });
}
