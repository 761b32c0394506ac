/** Cost that must not grow: stalls of the event loop, the end of a run, and the curves of what once grew as a square. */
import { openReprise, type Session, summary } from '../src/index.ts';
import { atMost, forTheRecord, median, type Row, time, timeEach } from './measure.ts';
import { drafts, payloads } from './workload.ts';
import { open, remove, sessionId, type Workspace } from './workspace.ts';

/** Rows of cost that must not grow. */
export async function benchSteady(workspace: Workspace): Promise<Row[]> {
  return [...(await stallRows(workspace)), await runEndRow(workspace), ...(await curveRows(workspace))];
}

/** Measures the longest time in which the event loop did not turn. */
async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let [longest, last] = [0, performance.now()];
  const turn = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  try {
    await work();
    return Math.max(longest, performance.now() - last);
  } finally {
    clearImmediate(next);
  }
}

async function stallRows(workspace: Workspace): Promise<Row[]> {
  const { isQuick, events } = workspace.sizes;
  const count = isQuick ? events : workspace.sizes.eventsMore;
  const path = await workspace.history(count);
  await using reprise = await openReprise({ store: `sqlite:${path}`, durability: 'process' });
  const session = await reprise.session(sessionId);
  const verbs: Readonly<Record<string, () => Promise<unknown>>> = {
    fingerprint: () => session.fingerprint(),
    health: () => reprise.health(),
    verify: () => session.verify(),
    stateAt: () => session.fold(summary, { snapshots: false }),
    find: () => session.find({ text: 'nowhere at all' }),
  };
  const rows: Row[] = [];
  for (const [name, work] of Object.entries(verbs)) {
    rows.push(
      atMost({
        name: `${name} at ${count.toLocaleString('en')} events: longest stall of the event loop`,
        value: await longestStall(work),
        limit: 50,
        unit: ' ms',
        detail: 'the longest time without a turn, in one run',
        cause: 'a page of events is read and folded in one go, and a busy machine stretches it.',
      }),
    );
  }
  return rows;
}

async function runEndRow(workspace: Workspace): Promise<Row> {
  const { isQuick, events } = workspace.sizes;
  const path = workspace.path('run-end.db');
  try {
    await using opened = await open(path, 'process');
    const { session } = opened;
    const data = payloads(2_000, 200);
    for (let from = 0; from < events; from += 1_000)
      await session.append(drafts(data, Math.min(1_000, events - from), from));
    const ends: number[] = [];
    for (let run = 0; run < (isQuick ? 3 : 20); run++) {
      await using recorder = await session.record({ agent: 'bench' });
      let started = 0;
      await recorder.run({ title: `run ${run}` }, async () => {
        recorder.message({ role: 'user', content: 'Go on.' });
        await recorder.flush();
        started = performance.now();
      });
      ends.push(performance.now() - started);
    }
    return atMost({
      name: `the end of a run after ${events.toLocaleString('en')} events`,
      value: median(ends.slice(1)),
      limit: 20,
      unit: ' ms',
      detail: `the first of the process, which folds all: ${ends[0]?.toFixed(0)} ms`,
      cause: 'the fold goes on from the last end; the rest is the append.',
    });
  } finally {
    remove(path);
  }
}

/** One thing to do many of, and how to prepare so many. */
type Curve = (session: Session, size: number) => Promise<() => Promise<unknown>>;

const note = (text: string) => ({ type: 'note.added', data: { text } });

const curves: Readonly<Record<string, { readonly sizes: readonly number[]; readonly prepare: Curve }>> = {
  'scan of the keys of one transaction': {
    sizes: [1_250, 2_500, 5_000],
    prepare: async (session, size) => {
      await session.state.transaction(async (tx) => {
        for (let key = 0; key < size; key++) tx.write(`key ${key}`, { value: key });
      });
      return () => Array.fromAsync(session.state.scan(''));
    },
  },
  'verify --deep of a session with many branches': {
    sizes: [500, 1_000, 2_000],
    prepare: async (session, size) => {
      await session.append(Array.from({ length: 50 }, (_, index) => note(`${index}`)));
      for (let branch = 0; branch < size; branch++) await session.fork('main@50', { name: `b${branch}` });
      return () => session.verify({ deep: true });
    },
  },
  'one more replacement of an event': {
    sizes: [250, 500, 1_000],
    prepare: async (session, size) => {
      await session.append(Array.from({ length: 5 }, (_, index) => note(`${index}`)));
      const replace = (text: string) => session.edit({ kind: 'replace', seq: 3, event: note(text) });
      for (let index = 0; index < size; index++) await replace(`${index}`);
      return () => replace('last');
    },
  },
  'one more insertion at a place': {
    sizes: [500, 1_000, 2_000],
    prepare: async (session, size) => {
      await session.append(Array.from({ length: 5 }, (_, index) => note(`${index}`)));
      const insert = (text: string) => session.edit({ kind: 'insert', after: 3, event: note(text) });
      for (let index = 0; index < size; index++) await insert(`${index}`);
      return () => insert('last');
    },
  },
};

async function curveRows(workspace: Workspace): Promise<Row[]> {
  const { isQuick } = workspace.sizes;
  const rows: Row[] = [];
  for (const [name, { sizes, prepare }] of Object.entries(curves)) {
    const points: string[] = [];
    for (const size of isQuick ? [10, 20] : sizes) {
      const path = workspace.path('curve.db');
      try {
        await using opened = await open(path, 'process');
        const work = await prepare(opened.session, size);
        points.push(`${size.toLocaleString('en')}: ${time(await timeEach(1, work))}`);
      } finally {
        remove(path);
      }
    }
    rows.push(forTheRecord(name, points.at(-1) ?? '', points.join(', ')));
  }
  return rows;
}
