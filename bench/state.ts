/** The state at any moment of a long history, from kept snapshots and from nothing. */
import { defineProjection, type JsonObject, type Projection } from '../src/index.ts';
import { alternate, atLeast, atMost, bytes, median, percent, type Row, spread, timeEach } from './measure.ts';
import { randomSource } from './workload.ts';
import { count, open, type Workspace } from './workspace.ts';

interface Totals {
  readonly tools: Record<string, number>;
  events: number;
  cost: number;
  input: number;
  last: string;
}

/** Totals: what is kept does not grow with the history. */
const totals: Projection<Totals> = defineProjection<Totals>({
  name: 'bench-totals',
  version: '1',
  history: 'view',
  initial: () => ({ tools: {}, events: 0, cost: 0, input: 0, last: '' }),
  apply: (value, { data }) => {
    const usage = data['usage'] as JsonObject;
    const tool = String(data['tool']);
    value.events++;
    value.cost += usage['cost'] as number;
    value.input += usage['input'] as number;
    value.tools[tool] = (value.tools[tool] ?? 0) + 1;
    value.last = String(data['callId']);
    return value;
  },
});

const placesEach = 5;

/** Rows of `stateAt`. */
export async function benchState(workspace: Workspace): Promise<Row[]> {
  const { events, rounds } = workspace.sizes;
  const path = await workspace.history(events);
  await using opened = await open(path, 'process');
  const { session } = opened;
  const building = await timeEach(1, () => session.fold(totals));
  const random = randomSource(7);
  let places: number[] = [];
  const look = (snapshots: boolean): Promise<number> =>
    timeEach(placesEach, async () => {
      for (const seq of places) {
        const value = await session.at({ seq }).fold(totals, { snapshots });
        if (value.events !== seq) throw new Error(`The state at ${seq} has ${value.events} events`);
      }
    });
  const times = await alternate(rounds, {
    folded: () => {
      places = Array.from({ length: placesEach }, () => 1 + Math.floor(random() * events));
      return look(false);
    },
    kept: () => look(true),
  });
  const kept = count(path, 'SELECT coalesce(sum(octet_length(value)), 0) FROM snapshots');
  const log = count(path, 'SELECT sum(octet_length(data)) FROM events');
  return [
    atLeast({
      name: `state at any of ${events.toLocaleString('en')} events against folding from zero`,
      value: median(times.folded) / median(times.kept),
      limit: 70,
      unit: '×',
      detail: `${spread(times.kept)} a look against ${spread(times.folded)}; the first look, which keeps the snapshots, takes ${(building / 1_000).toFixed(2)} s`,
      cause:
        'a look reads half of snapshotEventsMin events on average, and finding the nearest snapshot lists those before it.',
    }),
    atMost({
      name: 'snapshots as a share of the log',
      value: (kept / log) * 100,
      limit: 25,
      unit: ' %',
      detail: `${bytes(kept)} of snapshots, ${bytes(log)} of payload; ${percent(kept / log)}`,
      cause: 'snapshots are kept too often for the size of the state.',
    }),
  ];
}
