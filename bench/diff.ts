/** Comparing two long histories. */
import { hash } from 'node:crypto';
import { diffHistories } from '../src/core/comparing/diff.ts';
import type { DiffEvent } from '../src/core/comparing/diff-describe.ts';
import { placeAt } from '../src/engine/history/place.ts';
import { forkPointOf } from '../src/engine/looking/compare.ts';
import type { Seq } from '../src/index.ts';
import { alternate, atMost, median, type Row, spread, time, timeEach } from './measure.ts';
import { drafts, payloads, randomSource } from './workload.ts';
import { open, remove, sessionId, type Workspace } from './workspace.ts';

/** Rows of diffs. */
export async function benchDiff(workspace: Workspace): Promise<Row[]> {
  return [await forkPointRow(workspace), ...(await alignmentRows(workspace))];
}

async function forkPointRow(workspace: Workspace): Promise<Row> {
  const { isQuick, events, rounds } = workspace.sizes;
  const path = workspace.path('fork-point.db');
  const data = payloads(2_000, 200);
  try {
    await using opened = await open(path, 'process');
    const { session, engine } = opened;
    const grow = async (count: number, branch: string): Promise<void> => {
      for (let from = 0; from < count; from += 1_000)
        await session.branch(branch).append(drafts(data, Math.min(1_000, count - from), from));
    };
    await grow(events, 'main');
    await session.at({ seq: events >> 1 }).fork({ name: 'other' });
    await grow(events - (events >> 1) - 1, 'other');
    const [left, right] = [
      await placeAt(engine, sessionId, 'main', { kind: 'head' }),
      await placeAt(engine, sessionId, 'other', { kind: 'head' }),
    ];
    const repeats = isQuick ? 1 : 100;
    const times = await alternate(rounds, {
      point: () =>
        timeEach(repeats, async () => {
          for (let repeat = 0; repeat < repeats; repeat++) {
            const point = await forkPointOf(engine, left, right);
            if (point?.seq !== events >> 1) throw new Error(`Found the fork at ${point?.seq}`);
          }
        }),
    });
    return atMost({
      name: `fork point of ${events.toLocaleString('en')} against ${events.toLocaleString('en')} events`,
      value: median(times.point),
      limit: 1,
      unit: ' ms',
      detail: `${spread(times.point)}; by lineage, within one session`,
      cause: 'the lineages are compared piece by piece.',
    });
  } finally {
    remove(path);
  }
}

type Edit = (events: readonly DiffEvent[]) => readonly DiffEvent[];

async function alignmentRows(workspace: Workspace): Promise<Row[]> {
  const { events, rounds } = workspace.sizes;
  const half = events >> 1;
  const tenth = Math.floor(events / 10);
  const edits: Readonly<Record<string, Edit>> = {
    'one event inserted': (left) => [...left.slice(0, tenth), described('new', 0), ...left.slice(tenth)],
    'a tenth replaced': (left) => [...left.slice(0, half), ...history('b', tenth), ...left.slice(half + tenth)],
    '1 % scattered edits': (left) =>
      left.flatMap((event, index) => (index % 100 === 50 ? [described('x', index)] : [event])),
    'all different after the middle': (left) => [...left.slice(0, half), ...history('b', events - half)],
    'nothing in common': () => history('b', events),
    'the same events shuffled': (left) => shuffled(left),
    'few kinds of events, all repeated': () => repetitive(events, 2),
  };
  const left = history('a', events);
  const rows: Row[] = [];
  for (const [name, edit] of Object.entries(edits)) {
    const before = name.startsWith('few kinds') ? repetitive(events, 1) : left;
    const after = edit(before);
    const times = await alternate(rounds, {
      align: () => timeEach(1, () => void diffHistories(before, after)),
    });
    const diff = diffHistories(before, after);
    rows.push(
      atMost({
        name: `alignment of ${events.toLocaleString('en')} against ${events.toLocaleString('en')}: ${name}`,
        value: median(times.align),
        limit: 200,
        unit: ' ms',
        detail: `${spread(times.align)}; ${diff.matched} matched, ${diff.changed} changed, ${diff.onlyLeft} and ${diff.onlyRight} on one side only`,
        cause: `one alignment takes ${time(median(times.align))}.`,
      }),
    );
  }
  return rows;
}

const types = ['message.added', 'call.started', 'call.ended', 'note.added'];

function described(text: string, index: number): DiffEvent {
  const type = types[index % types.length] as string;
  return {
    seq: (index + 1) as Seq,
    type,
    hash: hash('sha256', `${text}${index}`, 'hex'),
    slot: JSON.stringify([type, null, index % 7]),
  };
}

const history = (text: string, count: number): DiffEvent[] =>
  Array.from({ length: count }, (_, index) => described(text, index));

function shuffled(events: readonly DiffEvent[]): DiffEvent[] {
  const random = randomSource(3);
  const order = [...events];
  for (let index = order.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [order[index], order[other]] = [order[other] as DiffEvent, order[index] as DiffEvent];
  }
  return order;
}

/** A history in which nothing is unique: the case that anchors do not help. */
function repetitive(count: number, seed: number): DiffEvent[] {
  const random = randomSource(seed);
  return Array.from({ length: count }, (_, index) => ({
    ...described('r', Math.floor(random() * 20)),
    seq: (index + 1) as Seq,
  }));
}
