import { columnFlags } from '../../../src/core/session/event-columns.ts';
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
  readonly rowOf: Uint32Array;
  /** Events in lanes that are no calls: messages, starts and ends of runs. */
  readonly others: Uint32Array;
  /** Events of the rows below the lanes. */
  readonly marks: { readonly state: Uint32Array; readonly markers: Uint32Array; readonly tasks: Uint32Array };
}

/** The most calls of one lane that are drawn below each other; more of them share the last row. */
const parallelMax = 8;

interface Lane {
  readonly agent: string;
  readonly first: number;
  last: number;
  /** By row of the lane: the seq after which it is free. */
  readonly freeAfter: number[];
  /** The row of the strip at which the lane begins. */
  top: number;
}

/** Sorts the events of an index into rows. It looks at every event, so it works on columns. */
export function rowsOf(index: EventIndex, foldedAgents: ReadonlySet<string>): StripRows {
  const { columns, head } = index;
  const { known, agent, flags, type } = columns;
  const marks = { state: [] as number[], markers: [] as number[], tasks: [] as number[] };
  const lanes = new Lanes(index);
  const others: number[] = [];
  const calls: number[] = [];
  const kinds: RowKind[] = [];
  for (let seq = 1; seq <= head; seq++) {
    if (known[seq] !== 1) continue;
    const flag = flags[seq] ?? 0;
    const kind = (kinds[type[seq] ?? 0] ??= rowKind(index.word('type', seq)));
    if ((flag & columnFlags.marker) !== 0) marks.markers.push(seq);
    else if (kind !== 'lane') marks[kind].push(seq);
    else if (agent[seq] !== 0) {
      lanes.note(seq);
      if ((flag & columnFlags.call) === 0) others.push(seq);
      else if ((flag & columnFlags.end) === 0) calls.push(seq);
    }
  }
  const rowOfCall = packCalls(calls, lanes);
  const placed = placeLanes(lanes.all, foldedAgents);
  const isFolded = lanes.all.map((lane) => foldedAgents.has(lane.agent));
  return {
    ...placed,
    bars: barsOf(calls, lanes, (seq, lane) => (isFolded[lane] === true ? 0 : (rowOfCall[seq] ?? 0)), index),
    rowOf: lanes.of.map((lane) => (lane === 0 ? 0 : (lanes.all[lane - 1]?.top ?? 0) + 1)),
    others: new Uint32Array(others),
    marks: {
      state: new Uint32Array(marks.state),
      markers: new Uint32Array(marks.markers),
      tasks: new Uint32Array(marks.tasks),
    },
  };
}

type RowKind = 'lane' | 'state' | 'tasks';

function rowKind(type: string): RowKind {
  if (type.startsWith('call.') || type.startsWith('run.') || type.startsWith('message.')) return 'lane';
  return type.startsWith('task.') || type.startsWith('verification.') ? 'tasks' : 'state';
}

/** The lanes of a history: an agent in a run. A run that resumed an earlier one continues its agent's last lane. */
class Lanes {
  readonly all: Lane[] = [];
  /** By seq: the number of its lane, plus 1; 0 for events that belong to none. */
  readonly of: Uint32Array;
  readonly #index: EventIndex;
  readonly #byRun = new Map<number, number>();
  readonly #lastOf: number[] = [];
  readonly #agents: number;

  constructor(index: EventIndex) {
    this.#index = index;
    this.#agents = index.words('agent').length + 1;
    this.of = new Uint32Array(index.head + 1);
  }

  note(seq: number): void {
    const { agent: agents, run: runs, end: ends } = this.#index.columns;
    const agent = agents[seq] ?? 0;
    const key = (runs[seq] ?? 0) * this.#agents + agent;
    const number = this.#byRun.get(key) ?? this.#open(agent, key, seq);
    this.#lastOf[agent] = number;
    this.of[seq] = number + 1;
    const lane = this.all[number];
    if (lane !== undefined) lane.last = Math.max(lane.last, seq, ends[seq] ?? 0);
  }

  #open(agent: number, key: number, seq: number): number {
    const resumed = this.#index.hasFlag(seq, 'resumed') ? this.#lastOf[agent] : undefined;
    const number = resumed ?? this.all.length;
    if (resumed === undefined)
      this.all.push({ agent: this.#index.word('agent', seq), first: seq, last: seq, freeAfter: [], top: 0 });
    this.#byRun.set(key, number);
    return number;
  }

  /** Returns the last seq that the bar of a call reaches: its end, or that of its lane while it is open. */
  untilOf(seq: number): number {
    const end = this.#index.columns.end[seq] ?? 0;
    return end === 0 ? (this.all[(this.of[seq] ?? 0) - 1]?.last ?? seq) : end;
  }
}

/** Puts the calls of every lane into as few rows as possible, so that no two that overlap share one. Returns the row of each call in its lane, by seq. */
function packCalls(calls: readonly number[], lanes: Lanes): Uint8Array {
  const rowOfCall = new Uint8Array(lanes.of.length);
  for (const start of calls) {
    const freeAfter = lanes.all[(lanes.of[start] ?? 0) - 1]?.freeAfter ?? [];
    const end = lanes.untilOf(start);
    let row = 0;
    while (row < freeAfter.length && (freeAfter[row] ?? 0) >= start) row++;
    row = Math.min(row, parallelMax - 1);
    freeAfter[row] = Math.max(freeAfter[row] ?? 0, end);
    rowOfCall[start] = row;
  }
  return rowOfCall;
}

/** Gives every lane its rows: agents in the order of their first event, and lanes of an agent that do not overlap share rows. */
function placeLanes(lanes: readonly Lane[], foldedAgents: ReadonlySet<string>): Pick<StripRows, 'groups' | 'laneRows'> {
  const byAgent = new Map<string, Lane[]>();
  for (const lane of lanes) {
    const own = byAgent.get(lane.agent);
    if (own === undefined) byAgent.set(lane.agent, [lane]);
    else own.push(lane);
  }
  const groups: LaneGroup[] = [];
  let next = 0;
  for (const [agent, own] of byAgent) {
    const folded = foldedAgents.has(agent);
    let wholeRows = 0;
    const freeAfter: number[] = [];
    for (const lane of own) {
      const rows = Math.max(1, lane.freeAfter.length);
      const first = folded ? 0 : firstFree(freeAfter, rows, lane.first);
      for (let row = first; row < first + (folded ? 1 : rows); row++) freeAfter[row] = lane.last;
      lane.top = next + first;
      wholeRows = Math.max(wholeRows, folded ? rows : freeAfter.length);
    }
    const rows = folded ? 1 : Math.max(1, wholeRows);
    groups.push({ agent, firstRow: next, rows, wholeRows, folded });
    next += rows;
  }
  return { groups, laneRows: next };
}

/** Finds the first of so many adjacent rows that are all free before a seq. */
function firstFree(freeAfter: readonly number[], rows: number, seq: number): number {
  for (let first = 0; ; first++) {
    let free = 0;
    while (free < rows && (freeAfter[first + free] ?? 0) < seq) free++;
    if (free === rows) return first;
  }
}

function barsOf(
  calls: readonly number[],
  lanes: Lanes,
  rowInLane: (seq: number, lane: number) => number,
  index: EventIndex,
): Bars {
  const bars = {
    count: calls.length,
    start: new Uint32Array(calls),
    end: new Uint32Array(calls.length),
    until: new Uint32Array(calls.length),
    row: new Uint16Array(calls.length),
  };
  for (const [position, start] of calls.entries()) {
    const lane = (lanes.of[start] ?? 0) - 1;
    bars.end[position] = index.columns.end[start] ?? 0;
    bars.until[position] = lanes.untilOf(start);
    bars.row[position] = (lanes.all[lane]?.top ?? 0) + rowInLane(start, lane);
  }
  return bars;
}
