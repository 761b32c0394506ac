/** The append path, held against a raw insert of the same text. */
import { DatabaseSync } from 'node:sqlite';
import type { EventDraft, JsonObject } from '../src/index.ts';
import { alternate, atMost, forTheRecord, median, type Row, spread, timeEach } from './measure.ts';
import { drafts, payloads, plainType, textsOf } from './workload.ts';
import { open, remove, type Workspace } from './workspace.ts';

const batchCause =
  'of the work an event takes, SQLite has about 45 % (a second index for ids, and the columns of the header), canonical JSON 25 %, checks, ids and the plan 20 %, two SHA-256 (payload and chain) 10 %.';
const singleCause =
  'a commit writes three pages to the log where the raw insert writes two, and each append goes through the append path (about 12 µs), one turn of the event loop (8 µs) and a BEGIN and COMMIT of its own.';

/** Rows of the append path. */
export async function benchAppend(workspace: Workspace): Promise<Row[]> {
  const { isQuick, rounds } = workspace.sizes;
  const data = payloads(2_000, 600);
  const texts = textsOf(data);
  const batched = await alternate(isQuick ? 1 : rounds + 4, {
    reprise: () => appendBatches(workspace, isQuick ? 2 : 150, 100, (count, from) => drafts(data, count, from)),
    raw: () => insertRaw(workspace.path('raw.db'), texts, { batches: isQuick ? 2 : 150, each: 100 }),
    calls: () => appendBatches(workspace, isQuick ? 2 : 50, 100, (count, from) => answers(data, count, from)),
    messages: () => appendBatches(workspace, isQuick ? 2 : 50, 100, (count, from) => messages(data, count, from)),
  });
  const single = await alternate(isQuick ? 1 : rounds + 4, {
    reprise: () => appendBatches(workspace, isQuick ? 20 : 3_000, 1, (count, from) => drafts(data, count, from)),
    raw: () => insertRaw(workspace.path('raw.db'), texts, { batches: isQuick ? 20 : 3_000, each: 1 }),
  });
  return [
    atMost({
      name: 'append, 100 per transaction, NORMAL, against a raw insert',
      value: median(batched.reprise) / median(batched.raw),
      limit: 2.3,
      unit: '×',
      detail: `${spread(batched.reprise)} an event; raw ${spread(batched.raw)}`,
      cause: batchCause,
    }),
    atMost({
      name: 'append, one per transaction, NORMAL, against a raw insert',
      value: median(single.reprise) / median(single.raw),
      limit: 1.4,
      unit: '×',
      detail: `${spread(single.reprise)} an event; raw ${spread(single.raw)}`,
      cause: singleCause,
    }),
    forTheRecord(
      'append of other events, 100 per transaction',
      `${(median(batched.calls) / median(batched.raw)).toFixed(2)}× and ${(median(batched.messages) / median(batched.raw)).toFixed(2)}×`,
      `call.ended, which is indexed by key: ${spread(batched.calls)}; message.added, which is stored as a part: ${spread(batched.messages)}`,
    ),
  ];
}

async function appendBatches(
  workspace: Workspace,
  batches: number,
  each: number,
  make: (count: number, from: number) => readonly EventDraft[],
): Promise<number> {
  const path = workspace.path('append.db');
  try {
    await using opened = await open(path, 'process');
    const { session } = opened;
    const prepared = Array.from({ length: batches }, (_, index) => make(each, index * each));
    return await timeEach(batches * each, async () => {
      for (const batch of prepared) await session.append(batch);
    });
  } finally {
    remove(path);
  }
}

const answers = (data: readonly JsonObject[], count: number, from: number): EventDraft[] =>
  drafts(data, count, from).map(({ data: output = {} }, index) => ({
    type: 'call.ended',
    data: { call: `c${from + index}`, kind: 'tool', name: 'search_docs', outcome: 'ok', output },
  }));

const messages = (data: readonly JsonObject[], count: number, from: number): EventDraft[] =>
  drafts(data, count, from).map(({ data: content = {} }, index) => ({
    type: 'message.added',
    data: { message: { role: 'assistant', content: `${from + index} ${JSON.stringify(content)}` } },
  }));

/** What someone would write by hand: one table, one index, the text as it is, and room for a digest that is not made. Pages are as large as the store's. */
export const rawSchema = `
PRAGMA page_size = 4096; PRAGMA journal_mode = WAL;
CREATE TABLE events(branch INTEGER NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL, payload TEXT NOT NULL, digest BLOB NOT NULL, UNIQUE(branch, seq))`;

/** Makes a function that inserts one more text into {@link rawSchema}. */
export function rawInserter(database: DatabaseSync, texts: readonly string[]): () => void {
  const insert = database.prepare(
    'INSERT INTO events(branch, seq, type, time, payload, digest) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const digest = Buffer.alloc(32);
  let seq = 0;
  return () => {
    seq++;
    insert.run(1, seq, plainType, 1_760_000_000_000 + seq, texts[seq % texts.length] as string, digest);
  };
}

function insertRaw(
  path: string,
  texts: readonly string[],
  { batches, each }: { readonly batches: number; readonly each: number },
): Promise<number> {
  const database = new DatabaseSync(path);
  database.exec(`${rawSchema}; PRAGMA synchronous = NORMAL`);
  const insert = rawInserter(database, texts);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  return timeEach(batches * each, () => {
    for (let batch = 0; batch < batches; batch++) {
      if (each === 1) insert();
      else {
        begin.run();
        for (let index = 0; index < each; index++) insert();
        commit.run();
      }
    }
  }).finally(() => {
    database.close();
    remove(path);
  });
}
