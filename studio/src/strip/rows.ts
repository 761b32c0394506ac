import type { EventIndex } from '../history/event-index.ts';

/** The calls of a history as bars, by position, each with the row it is drawn in. */
interface Bars {
  readonly count: number;
  /** The seq at which each call starts. */
  readonly start: Uint32Array;
  /** The seq at which it ends; 0 while it is open. */
  readonly end: Uint32Array;
  /** The seq up to which it is drawn: its end, or the last event of its lane. */
  readonly until: Uint32Array;
  readonly row: Uint16Array;
}

/** The lanes of one agent: a label, and the rows that they take. */
interface LaneGroup {
  readonly agent: string;
  readonly firstRow: number;
  readonly rows: number;
  /** The rows it would take if it were not folded to one. */
  readonly wholeRows: number;
  readonly folded: boolean;
}

/** Everything that the strip draws in rows. */
export interface StripRows {
  readonly groups: readonly LaneGroup[];
  readonly laneRows: number;
  readonly bars: Bars;
  /** By seq: the row of its lane, plus 1; 0 for events that belong to no lane. */
  readonly rowOf: Uint16Array;
  /** Events in lanes that are no calls: messages, starts and ends of runs. */
  readonly others: Uint32Array;
  /** Events of the rows below the lanes. */
  readonly marks: { readonly state: Uint32Array; readonly markers: Uint32Array; readonly tasks: Uint32Array };
}

/** The most calls of one lane that are drawn beside each other; more of them share the last row. */
const parallelMax = 8;

interface Lane {
  readonly agent: string;
  first: number;
  last: number;
  readonly calls: number[];
  readonly events: number[];
}

/** Sorts the events of an index into rows. */
export function rowsOf(index: EventIndex, foldedAgents: ReadonlySet<string>): StripRows {
  const marks = { state: [] as number[], markers: [] as number[], tasks: [] as number[] };
  const lanes = new Lanes(index);
  const others: number[] = [];
  const { columns, head } = index;
  const kinds: RowKind[] = [];
  for (let seq = 1; seq <= head; seq++) {
    if (columns.known[seq] !== 1) continue;
    const kind = (kinds[columns.type[seq] ?? 0] ??= rowKind(index.word('type', seq)));
    if (index.hasFlag(seq, 'marker')) marks.markers.push(seq);
    else if (kind !== 'lane') marks[kind].push(seq);
    else if (columns.agent[seq] !== 0) {
      lanes.note(seq);
      if (!index.hasFlag(seq, 'call')) others.push(seq);
    }
  }
  const placed = placeLanes(lanes.all, index, foldedAgents);
  return {
    ...placed,
    others: Uint32Array.from(others),
    marks: {
      state: Uint32Array.from(marks.state),
      markers: Uint32Array.from(marks.markers),
      tasks: Uint32Array.from(marks.tasks),
    },
  };
}

type RowKind = 'lane' | 'state' | 'tasks';

function rowKind(type: string): RowKind {
  if (type.startsWith('call.') || type.startsWith('run.') || type.startsWith('message.')) return 'lane';
  return type.startsWith('task.') || type.startsWith('verification.') ? 'tasks' : 'state';
}

/** The lanes of a history: an agent in a run. A run that resumed an earlier one goes on with its agent's last lane. */
class Lanes {
  readonly all: Lane[] = [];
  readonly #index: EventIndex;
  readonly #byRun = new Map<number, Lane>();
  readonly #lastOf = new Map<number, Lane>();

  constructor(index: EventIndex) {
    this.#index = index;
  }

  note(seq: number): void {
    const index = this.#index;
    const { columns } = index;
    const agent = columns.agent[seq] ?? 0;
    const key = agent * 2 ** 32 + (columns.run[seq] ?? 0);
    const lane = this.#byRun.get(key) ?? this.#open(agent, key, seq);
    this.#lastOf.set(agent, lane);
    lane.last = Math.max(lane.last, seq, columns.end[seq] ?? 0);
    if (index.callOf(seq) === seq) lane.calls.push(seq);
    lane.events.push(seq);
  }

  #open(agent: number, key: number, seq: number): Lane {
    const resumed = this.#index.hasFlag(seq, 'resumed') ? this.#lastOf.get(agent) : undefined;
    const lane = resumed ?? { agent: this.#index.word('agent', seq), first: seq, last: seq, calls: [], events: [] };
    if (resumed === undefined) this.all.push(lane);
    this.#byRun.set(key, lane);
    return lane;
  }
}

/** Gives every lane its rows: agents in the order of their first event, and lanes of an agent that do not overlap share rows. */
function placeLanes(
  lanes: readonly Lane[],
  index: EventIndex,
  foldedAgents: ReadonlySet<string>,
): Pick<StripRows, 'groups' | 'laneRows' | 'bars' | 'rowOf'> {
  const byAgent = new Map<string, Lane[]>();
  for (const lane of lanes) {
    const own = byAgent.get(lane.agent);
    if (own === undefined) byAgent.set(lane.agent, [lane]);
    else own.push(lane);
  }
  const rowOf = new Uint16Array(index.head + 1);
  const placed: PlacedCall[] = [];
  const groups: LaneGroup[] = [];
  let next = 0;
  for (const [agent, own] of byAgent) {
    const folded = foldedAgents.has(agent);
    let wholeRows = 0;
    const freeAfter: number[] = [];
    for (const lane of own) {
      const { rows, rowByCall } = packCalls(lane, index);
      const first = folded ? 0 : firstFree(freeAfter, rows, lane.first);
      for (let row = first; row < first + (folded ? 1 : rows); row++) freeAfter[row] = lane.last;
      for (const seq of lane.events) rowOf[seq] = next + first + 1;
      for (const [start, row] of rowByCall)
        placed.push({ start, until: index.endOf(start) ?? lane.last, row: next + first + (folded ? 0 : row) });
      wholeRows = Math.max(wholeRows, folded ? rows : freeAfter.length);
    }
    const rows = folded ? 1 : Math.max(1, wholeRows);
    groups.push({ agent, firstRow: next, rows, wholeRows, folded });
    next += rows;
  }
  placed.sort((a, b) => a.start - b.start);
  return { groups, laneRows: next, bars: barsOf(placed, index), rowOf };
}

/** Finds the first of so many rows beside each other that are all free before a seq. */
function firstFree(freeAfter: readonly number[], rows: number, seq: number): number {
  for (let first = 0; ; first++) {
    let free = 0;
    while (free < rows && (freeAfter[first + free] ?? 0) < seq) free++;
    if (free === rows) return first;
  }
}

/** Puts the calls of a lane into as few rows as possible, so that no two that overlap share one. */
function packCalls(lane: Lane, index: EventIndex): { rows: number; rowByCall: readonly (readonly [number, number])[] } {
  const freeAfter: number[] = [];
  const rowByCall: [number, number][] = [];
  for (const start of lane.calls) {
    const end = index.endOf(start) ?? lane.last;
    let row = freeAfter.findIndex((until) => until < start);
    if (row < 0) row = Math.min(freeAfter.length, parallelMax - 1);
    freeAfter[row] = Math.max(freeAfter[row] ?? 0, end);
    rowByCall.push([start, row]);
  }
  return { rows: Math.max(1, freeAfter.length), rowByCall };
}

interface PlacedCall {
  readonly start: number;
  readonly until: number;
  readonly row: number;
}

function barsOf(placed: readonly PlacedCall[], index: EventIndex): Bars {
  const bars = {
    count: placed.length,
    start: new Uint32Array(placed.length),
    end: new Uint32Array(placed.length),
    until: new Uint32Array(placed.length),
    row: new Uint16Array(placed.length),
  };
  for (const [position, { start, until, row }] of placed.entries()) {
    bars.start[position] = start;
    bars.end[position] = index.endOf(start) ?? 0;
    bars.until[position] = until;
    bars.row[position] = row;
  }
  return bars;
}
