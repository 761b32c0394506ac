/** Forks of long histories. */
import { copyFileSync } from 'node:fs';
import { alternate, atMost, forTheRecord, median, minimum, type Row, spread, time, timeEach } from './measure.ts';
import { drafts, payloads } from './workload.ts';
import { count, type Opened, open, remove, settledBytes, type Workspace, writeOut } from './workspace.ts';

const growthForks = 2_000;
const forksEach = 4;

/** Rows of forks at two lengths of history. */
export async function benchFork(workspace: Workspace): Promise<Row[]> {
  const paths = [
    await copyOf(workspace, workspace.sizes.events),
    await copyOf(workspace, workspace.sizes.eventsMore),
  ] as const;
  try {
    const times = await timeForks(workspace, paths);
    const [short, long] = [await growthOf(workspace, paths[0]), await growthOf(workspace, paths[1])];
    const unnamed = await timeUnnamed(paths[0], workspace.sizes.isQuick ? 1 : 9);
    return [
      ...costRows(workspace.sizes.events, { fork: times.short, append: times.shortAppend }, short),
      ...costRows(workspace.sizes.eventsMore, { fork: times.long, append: times.longAppend }, long),
      atMost({
        name: 'fork at the longer history against the shorter',
        value: minimum(times.long) / minimum(times.short),
        limit: 1.2,
        unit: '×',
        detail: `"the same at both sizes", with room for noise: ${spread(times.long)} against ${spread(times.short)}`,
        cause:
          'the trees of a longer history are one page deeper, and the disk was not equally quiet for both; compare the appends.',
      }),
      forTheRecord(
        'fork without a name, of a session with many branches',
        time(median(unnamed)),
        `${spread(unnamed)} with ${short.forks + times.short.length * forksEach} branches in the session`,
      ),
    ];
  } finally {
    for (const path of paths) remove(path);
  }
}

interface Growth {
  readonly forks: number;
  readonly forkBytes: number;
  readonly eventBytes: number;
  readonly copied: number;
}

function costRows(
  events: number,
  times: { readonly fork: readonly number[]; readonly append: readonly number[] },
  { forks, forkBytes, eventBytes, copied }: Growth,
): Row[] {
  const at = `at ${events.toLocaleString('en')} events`;
  return [
    atMost({
      name: `fork ${at}`,
      value: minimum(times.fork),
      limit: 1,
      unit: ' ms',
      detail: `durable; ${spread(times.fork)}; a single durable append there ${spread(times.append)}`,
      cause:
        'one synced transaction; what is above the append is looking up the place, its digest and the metadata that is handed down.',
    }),
    atMost({
      name: `growth of the file by a fork ${at}, beyond its own event`,
      value: forkBytes - eventBytes,
      limit: 64,
      unit: ' B',
      detail: `${forkBytes.toFixed(0)} B a fork, of which ${eventBytes.toFixed(0)} B are those of an appended event with the same data; mean of ${forks} forks`,
      cause: 'a row of "branches" and one entry each in the index of names and in that of markers.',
    }),
    atMost({
      name: `events copied by a fork ${at}`,
      value: copied,
      limit: 0,
      unit: '',
      detail: 'rows in "events" beyond the one branch.forked',
      cause: 'a fork must write its own event alone.',
    }),
  ];
}

async function copyOf(workspace: Workspace, events: number): Promise<string> {
  const path = workspace.path('forks.db');
  copyFileSync(await workspace.history(events), path);
  writeOut(path);
  return path;
}

const forkSeq = (workspace: Workspace): number => workspace.sizes.events >> 1;

/** The bytes that a fork adds to the file, compared with those of an event of the same size. */
async function growthOf(workspace: Workspace, path: string): Promise<Growth> {
  const forks = workspace.sizes.isQuick ? 50 : growthForks;
  const rows = (): number => count(path, 'SELECT count(*) FROM events');
  const before = { bytes: settledBytes(path), rows: rows() };
  await writeMany(path, forks, async ({ session }, index) => {
    await session.at({ seq: forkSeq(workspace) }).fork({ name: `g${index}` });
  });
  const between = { bytes: settledBytes(path), rows: rows() };
  const data = count(path, 'SELECT octet_length(data) FROM events ORDER BY rowid DESC LIMIT 1');
  await writeMany(path, forks, async ({ session }) => {
    // `{"text":""}` is eleven bytes, so this is a payload of the same length under a type of the same length.
    await session.append({ type: 'note.appended', data: { text: 'x'.repeat(data - 11) } });
  });
  return {
    forks,
    forkBytes: (between.bytes - before.bytes) / forks,
    eventBytes: (settledBytes(path) - between.bytes) / forks,
    copied: between.rows - before.rows - forks,
  };
}

/** Times of forks and, for comparison, of appends, of both histories in turn: a few at a time, as variants are made. */
async function timeForks(
  workspace: Workspace,
  [short, long]: readonly [string, string],
): Promise<Record<'short' | 'long' | 'shortAppend' | 'longAppend', number[]>> {
  await using less = await open(short, 'disk');
  await using more = await open(long, 'disk');
  const batch = drafts(payloads(forksEach, 200), forksEach);
  let made = 0;
  const forking = (opened: Opened) => () =>
    timeEach(forksEach, async () => {
      for (let index = 0; index < forksEach; index++)
        await opened.session.at({ seq: forkSeq(workspace) + (made % 97) }).fork({ name: `t${made++}` });
    });
  const appending = (opened: Opened) => () =>
    timeEach(forksEach, async () => {
      for (const draft of batch) await opened.session.append(draft);
    });
  return await alternate(workspace.sizes.isQuick ? 2 : 40, {
    short: forking(less),
    long: forking(more),
    shortAppend: appending(less),
    longAppend: appending(more),
  });
}

async function timeUnnamed(path: string, rounds: number): Promise<number[]> {
  await using opened = await open(path, 'disk');
  const times = await alternate(rounds, { fork: () => timeEach(1, () => opened.session.at({ seq: 1 }).fork()) });
  return times.fork;
}

async function writeMany(
  path: string,
  times: number,
  write: (opened: Opened, index: number) => Promise<void>,
): Promise<void> {
  await using opened = await open(path, 'process');
  for (let index = 0; index < times; index++) await write(opened, index);
}
