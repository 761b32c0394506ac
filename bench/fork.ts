/** Forks of long histories, and reading through many of them. */
import { copyFileSync } from 'node:fs';
import { rawSegments } from '../src/core/segment.ts';
import { limits } from '../src/index.ts';
import { alternate, atMost, forTheRecord, median, minimum, type Row, spread, time, timeEach } from './measure.ts';
import { readRaw } from './replay.ts';
import { drafts, payloads } from './workload.ts';
import { count, type Opened, open, remove, settledBytes, type Workspace } from './workspace.ts';

const growthForks = 2_000;

/** Rows of forks at two lengths of history. */
export async function benchFork(workspace: Workspace): Promise<Row[]> {
  const { events, eventsMore } = workspace.sizes;
  const short = await forkCosts(workspace, events);
  const long = await forkCosts(workspace, eventsMore);
  const rows = [short, long].flatMap((costs) => [
    atMost({
      name: `fork at ${costs.events.toLocaleString('en')} events`,
      value: minimum(costs.times),
      limit: 1,
      unit: ' ms',
      detail: `durable; ${spread(costs.times)}; a single durable append there ${spread(costs.appends)}`,
      cause: 'one synced transaction; what is above the append is looking up the place and its digest.',
    }),
    atMost({
      name: `growth of the file by a fork at ${costs.events.toLocaleString('en')} events, beyond its own event`,
      value: costs.growth,
      limit: 64,
      unit: ' B',
      detail: `${costs.forkBytes.toFixed(0)} B a fork, of which ${costs.eventBytes.toFixed(0)} B are those of an appended event with the same data; mean of ${costs.forks} forks`,
      cause:
        'a row of "branches" (name, parent, createdAt as text) and one entry each in the index of names and in that of markers.',
    }),
    atMost({
      name: `events copied by a fork at ${costs.events.toLocaleString('en')} events`,
      value: costs.copied,
      limit: 0,
      unit: '',
      detail: 'rows in "events" beyond the one branch.forked',
      cause: 'a fork must write its own event alone.',
    }),
  ]);
  const ratio = minimum(long.times) / minimum(short.times);
  return [
    ...rows,
    atMost({
      name: 'fork at the longer history against the shorter',
      value: ratio,
      limit: 1.2,
      unit: '×',
      detail: `"the same at both sizes", with room for noise: ${time(minimum(long.times))} against ${time(minimum(short.times))}`,
      cause: 'the cost of a fork grows with the history.',
    }),
    forTheRecord(
      'fork without a name, of a session with many branches',
      time(median(short.unnamed)),
      `${spread(short.unnamed)} with ${growthForks + short.times.length} branches in the session: choosing a free name lists them all`,
    ),
  ];
}

interface ForkCosts {
  readonly events: number;
  readonly forks: number;
  readonly times: readonly number[];
  readonly unnamed: readonly number[];
  readonly appends: readonly number[];
  readonly forkBytes: number;
  readonly eventBytes: number;
  readonly growth: number;
  readonly copied: number;
}

async function forkCosts(workspace: Workspace, events: number): Promise<ForkCosts> {
  const { isQuick } = workspace.sizes;
  const path = workspace.path('forks.db');
  copyFileSync(await workspace.history(events), path);
  const forks = isQuick ? 50 : growthForks;
  const middle = events >> 1;
  const rounds = isQuick ? 2 : 100;
  try {
    const [times, appends] = await timeForks(path, middle, rounds);
    const before = { bytes: settledBytes(path), events: count(path, 'SELECT count(*) FROM events') };
    await writeMany(
      path,
      async ({ session }, index) => {
        await session.fork({ seq: middle }, { name: `g${index}` });
      },
      forks,
    );
    const between = { bytes: settledBytes(path), events: count(path, 'SELECT count(*) FROM events') };
    const data = count(path, 'SELECT octet_length(data) FROM events ORDER BY rowid DESC LIMIT 1');
    await writeMany(
      path,
      async ({ session }) => {
        // `{"text":""}` is eleven bytes, so this is a payload of the same length under a type of the same length.
        await session.append({ type: 'note.appended', data: { text: 'x'.repeat(data - 11) } });
      },
      forks,
    );
    const after = settledBytes(path);
    const unnamed = await timeUnnamed(path, middle, isQuick ? 1 : 9);
    const forkBytes = (between.bytes - before.bytes) / forks;
    const eventBytes = (after - between.bytes) / forks;
    const copied = between.events - before.events - forks;
    return { events, forks, times, unnamed, appends, forkBytes, eventBytes, growth: forkBytes - eventBytes, copied };
  } finally {
    remove(path);
  }
}

async function timeForks(path: string, middle: number, rounds: number): Promise<[number[], number[]]> {
  await using opened = await open(path, 'disk');
  const { session } = opened;
  const [draft] = drafts(payloads(1, 200), 1);
  if (draft === undefined) return [[], []];
  let round = 0;
  const { fork, append } = await alternate(rounds, {
    fork: () => timeEach(1, () => session.fork({ seq: middle + (round++ % 97) }, { name: `t${round}` })),
    append: () => timeEach(1, () => session.append(draft)),
  });
  return [fork, append];
}

async function timeUnnamed(path: string, middle: number, rounds: number): Promise<number[]> {
  await using opened = await open(path, 'disk');
  const times = await alternate(rounds, { fork: () => timeEach(1, () => opened.session.fork({ seq: middle })) });
  return times.fork;
}

async function writeMany(
  path: string,
  write: (opened: Opened, index: number) => Promise<void>,
  times: number,
): Promise<void> {
  await using opened = await open(path, 'process');
  for (let index = 0; index < times; index++) await write(opened, index);
}

/** Rows of a history spread over many ancestors. */
export async function benchAncestors(workspace: Workspace): Promise<Row[]> {
  const { lineageEvents: events, ancestors, rounds, isQuick } = workspace.sizes;
  await using flat = await open(workspace.path('flat.db'), 'process');
  await using deep = await open(workspace.path('deep.db'), 'process');
  const leaf = await growLineages(flat, deep, events, ancestors);
  const repeats = isQuick ? 1 : 5;
  const replayed =
    ({ session }: Opened, branch: string) =>
    () =>
      timeEach(repeats * events, async () => {
        let seen = 0;
        for (let repeat = 0; repeat < repeats; repeat++)
          for await (const event of session.replay({ at: { branch } })) if (event.seq > 0) seen++;
        if (seen !== repeats * events) throw new Error(`Saw ${seen} of ${repeats * events} events`);
      });
  const raw = (opened: Opened, read: () => Promise<number>) => () =>
    timeEach(repeats * events, async () => {
      for (let repeat = 0; repeat < repeats; repeat++) if ((await read()) < events) throw new Error(opened.path);
    });
  const times = await alternate(isQuick ? 1 : rounds + 4, {
    flat: replayed(flat, 'main'),
    deep: replayed(deep, leaf),
    flatRaw: raw(flat, () => readRaw(flat, events)),
    deepRaw: raw(deep, () => readLineage(deep, leaf)),
  });
  const detail = (key: 'flat' | 'deep' | 'flatRaw' | 'deepRaw'): string => spread(times[key]);
  return [
    atMost({
      name: `replay through ${ancestors} ancestors against a flat history`,
      value: median(times.deep) / median(times.flat),
      limit: 1.1,
      unit: '×',
      detail: `${events.toLocaleString('en')} events; ${detail('deep')} an event against ${detail('flat')}; stored text alone, with markers: ${(median(times.deepRaw) / median(times.flatRaw)).toFixed(2)}×`,
      cause: 'one range query an ancestor (twice, since the bytes of a page are summed first), and its markers.',
    }),
  ];
}

/** Two histories of the same events: one flat, one in which each ancestor adds its share. */
async function growLineages(flat: Opened, deep: Opened, events: number, ancestors: number): Promise<string> {
  const data = payloads(2_000, 600);
  const share = Math.floor(events / (ancestors + 1));
  let branch = 'main';
  for (let depth = 0; depth <= ancestors; depth++) {
    const size = depth === ancestors ? events - share * ancestors : share;
    const batch = drafts(data, size, depth * share);
    await flat.session.append(batch);
    await deep.session.append(batch, { branch });
    if (depth === ancestors) break;
    await deep.session.fork({ branch }, { name: `b${depth}` });
    branch = `b${depth}`;
  }
  return branch;
}

async function readLineage({ engine, session, store }: Opened, leaf: string): Promise<number> {
  const ref = { namespace: engine.namespace, session: session.id };
  const record = await store.branch({ ...ref, branch: leaf });
  if (record === undefined) throw new Error(`There is no branch "${leaf}"`);
  const segments = rawSegments({ root: record.root, markers: record.markers, head: record.head }, record.head);
  let seen = 0;
  const request = { limit: limits.pageEventsMax, select: 'full', direction: 'forward' } as const;
  for (let page = await store.read(ref, segments, request); ; ) {
    seen += page.events.length;
    if (page.next === undefined) return seen;
    page = await store.read(ref, segments, { ...request, cursor: page.next });
  }
}
