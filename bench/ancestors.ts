/** Reading a history that is spread over many ancestors. */
import { rawSegments } from '../src/core/view/segment.ts';
import { limits } from '../src/index.ts';
import { alternate, atMost, median, type Row, spread, timeEach } from './measure.ts';
import { readRaw } from './replay.ts';
import { drafts, payloads } from './workload.ts';
import { type Opened, open, type Workspace } from './workspace.ts';

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
          for await (const event of session.branch(branch).replay()) if (event.seq > 0) seen++;
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
      cause: 'two questions an ancestor, one for the bytes and one for the rows, and its markers.',
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
    await deep.session.branch(branch).append(batch);
    if (depth === ancestors) break;
    await deep.session.branch(branch).fork({ name: `b${depth}` });
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
