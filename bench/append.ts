/** The append path, held against a raw insert of the same text. */
import { DatabaseSync } from 'node:sqlite';
import type { EventDraft, JsonObject, Session } from '../src/index.ts';
import { alternate, atMost, type Contender, forTheRecord, median, type Row, spread, timeEach } from './measure.ts';
import { drafts, payloads, plainType, textsOf } from './workload.ts';
import { open, type Workspace } from './workspace.ts';

const batchCause =
  'out of reach: measured apart, inserting our columns with the index of ids takes twice a raw insert, and the canonical text, two SHA-256, the id and the salt 1.6 times one, which is 3.7 times before anything is checked or planned (decision 0027).';
const singleCause =
  'out of reach: the bare transaction of our columns takes 1.5 to 1.6 raw inserts, since it writes three pages to the log (table, places, ids) and not two; without the index of ids it would be 1.2, and a repeated append could not be told from a new one (decision 0027).';

/** Each turn is long enough for every contender to write its log back at least once. */
const turns = 15;

/** Rows of the append path. */
export async function benchAppend(workspace: Workspace): Promise<Row[]> {
  const { isQuick } = workspace.sizes;
  const data = payloads(2_000, 600);
  const [batches, singles] = isQuick ? [1, 10] : [60, 1_500];
  // A file for each contender: none pays for pages that another one has changed.
  await using plain = await open(workspace.path('plain.db'), 'process');
  await using called = await open(workspace.path('calls.db'), 'process');
  await using said = await open(workspace.path('messages.db'), 'process');
  await using alone = await open(workspace.path('single.db'), 'process');
  using raw = rawTable(workspace.path('raw.db'), textsOf(data));
  using rawAlone = rawTable(workspace.path('raw-single.db'), textsOf(data));
  const batched = await alternate(isQuick ? 1 : turns, {
    reprise: appending(plain.session, { batches, each: 100 }, (count, from) => drafts(data, count, from)),
    raw: () => raw.insert({ batches, each: 100 }),
    calls: appending(called.session, { batches, each: 100 }, (count, from) => answers(data, count, from)),
    messages: appending(said.session, { batches, each: 100 }, (count, from) => messages(data, count, from)),
  });
  const single = await alternate(isQuick ? 1 : turns, {
    reprise: appending(alone.session, { batches: singles, each: 1 }, (count, from) => drafts(data, count, from)),
    raw: () => rawAlone.insert({ batches: singles, each: 1 }),
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

interface Amount {
  readonly batches: number;
  readonly each: number;
}

/** Appends so many batches a turn; what is appended is made before the clock runs. */
function appending(
  session: Session,
  { batches, each }: Amount,
  make: (count: number, from: number) => readonly EventDraft[],
): Contender {
  let from = 0;
  return () => {
    const prepared = Array.from({ length: batches }, (_, index) => make(each, from + index * each));
    from += batches * each;
    return timeEach(batches * each, async () => {
      for (const batch of prepared) await session.append(batch);
    });
  };
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

/** A store as a person would write it by hand: one table, one index, plain text, and room for a digest. Its pages are as large as ours. */
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

interface RawTable extends Disposable {
  readonly insert: (amount: Amount) => Promise<number>;
}

function rawTable(path: string, texts: readonly string[]): RawTable {
  const database = new DatabaseSync(path);
  database.exec(`${rawSchema}; PRAGMA synchronous = NORMAL`);
  const one = rawInserter(database, texts);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const insert = ({ batches, each }: Amount): Promise<number> =>
    timeEach(batches * each, () => {
      for (let batch = 0; batch < batches; batch++) {
        if (each > 1) begin.run();
        for (let index = 0; index < each; index++) one();
        if (each > 1) commit.run();
      }
    });
  return { insert, [Symbol.dispose]: () => database.close() };
}
