/** Reading a long history again, held against a file of JSON lines. */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { findPlace } from '../src/engine/history/place.ts';
import { replayPages } from '../src/engine/looking/replay.ts';
import { limits, type Seq } from '../src/index.ts';
import { alternate, atMost, forTheRecord, median, type Row, spread, timeEach } from './measure.ts';
import { type Opened, open, sessionId, type Workspace } from './workspace.ts';

/** Rows of replay and verification. */
export async function benchReplay(workspace: Workspace): Promise<Row[]> {
  const { events, rounds } = workspace.sizes;
  await using opened = await open(await workspace.history(events), 'process');
  const lines = await writeLines(opened, workspace.path('events.jsonl'));
  const each = (work: () => Promise<number>) => () =>
    timeEach(events, async () => {
      const seen = await work();
      if (seen !== events) throw new Error(`Saw ${seen} of ${events} events`);
    });
  const times = await alternate(rounds, {
    lines: each(() => readLines(lines)),
    raw: each(() => readRaw(opened, events)),
    parsed: each(() => readParsed(opened)),
    pages: each(() => readPages(opened)),
    verified: each(async () => (await opened.session.verify()).events),
  });
  const row = (name: string, key: keyof typeof times, limit: number, cause: string): Row =>
    atMost({
      name: `replay of ${events.toLocaleString('en')} events, ${name}, against JSONL + readline + JSON.parse`,
      value: median(times[key]) / median(times.lines),
      limit,
      unit: '×',
      detail: `${spread(times[key])} an event; JSONL ${spread(times.lines)}`,
      cause,
    });
  return [
    row(
      'raw',
      'raw',
      0.35,
      'node:sqlite makes fourteen values of each row, five of them strings; profiled, that one call takes nineteen parts of twenty.',
    ),
    row('parsed', 'parsed', 1, 'parsing the payload and fetching its row, header included, cost about the same.'),
    row('verified', 'verified', 1.3, 'two SHA-256 an event, one over the payload and one over the chain.'),
    forTheRecord(
      'replay by pages (replayPages)',
      `${(median(times.pages) / median(times.lines)).toFixed(2)}×`,
      `${spread(times.pages)} an event`,
    ),
  ];
}

/** The events as someone who logs to a file would keep them: what we store, without names, digest and salt. */
async function writeLines({ session }: Opened, path: string): Promise<string> {
  const file = createWriteStream(path);
  for await (const { seq, id, time, type, version, turn, data } of session.replay())
    if (!file.write(`${JSON.stringify({ seq, id, time, type, version, turn, data })}\n`)) await once(file, 'drain');
  file.end();
  await once(file, 'close');
  return path;
}

async function readLines(path: string): Promise<number> {
  let seen = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY }))
    if (JSON.parse(line) !== null) seen++;
  return seen;
}

/** The stored text, page after page, through the port. */
export async function readRaw({ engine, store }: Opened, through: number, branch = 'main'): Promise<number> {
  const segments = [{ branch, after: 0 as Seq, through: through as Seq, except: [], carried: false }];
  const request = { limit: limits.pageEventsMax, select: 'full', direction: 'forward' } as const;
  const ref = { namespace: engine.namespace, session: sessionId };
  let seen = 0;
  for (let page = await store.read(ref, segments, request); ; ) {
    seen += page.events.length;
    if (page.next === undefined) return seen;
    page = await store.read(ref, segments, { ...request, cursor: page.next });
  }
}

async function readParsed({ session }: Opened): Promise<number> {
  let seen = 0;
  for await (const event of session.replay()) if (event.seq > 0) seen++;
  return seen;
}

async function readPages({ engine }: Opened): Promise<number> {
  let seen = 0;
  for await (const events of replayPages(engine, () => findPlace(engine, sessionId, {}))) seen += events.length;
  return seen;
}
